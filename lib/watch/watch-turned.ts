import {
  adoptedNews,
  byHandNews,
  findAdopter,
  findTurned,
  findTurnedByHand,
  openNews,
  pausedNews,
  sameTimeMs,
  settledAfterMs,
  type TurnedPosition,
  turnedWithinMs,
} from '../account/find-turned.ts';
import type { Entry } from '../ledger/entry.ts';
import { type Executions, listFills } from '../ledger/executions.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { createTeller, type TellServices } from '../ledger/tell-once.ts';
import type { Account } from '../model/account.ts';
import type { Fill } from '../model/execution.ts';
import type { OpenPosition } from '../model/holdings.ts';
import { lookedAtFromMs } from './unread-time.ts';
import type { UnreadTime } from './watch-state.ts';

/** Who closes what an exit has opened. */
export interface TurnedCloser {
  /** Whether it is closed for this account; otherwise the owner is told how to. */
  closes(account: Account): boolean;
  /** @throws RelayError `store_unavailable` */
  ask(account: string, turned: TurnedPosition): Promise<void>;
}

interface TurnedServices extends TellServices {
  readonly executions: Pick<Executions, 'listFills'>;
  readonly ledger: Pick<Ledger, 'list' | 'readPause'>;
  readonly turnedCloser: TurnedCloser;
}

/** What is asked for is carried out within this time, unless its market waits, or the relay may not trade. */
const closedWithinMs = 3 * 60_000;
const mostEntries = 100;

interface Reading {
  readonly positions: readonly OpenPosition[];
  readonly readAtMs: number;
  readonly unread: UnreadTime | null;
}

/**
 * Looks for positions that an exit has opened because what it was to close had been reduced. Nobody asked for them, and no
 * stop-loss protects them. Each is closed, or told with the command that closes it; and told, too, when it still stands later.
 *
 * @throws RelayError `store_unavailable`
 */
export async function watchTurned(
  services: TurnedServices,
  account: Account,
  { positions, readAtMs, unread }: Reading,
): Promise<void> {
  const turnable = positions.filter(({ positionSide }) => positionSide === 'BOTH');
  if (turnable.length === 0) return;
  const fills: Fill[] = [];
  // Of a time that nobody has read, only what the positions that are open now can be made of.
  const openedAtMs = Math.min(...turnable.map((position) => position.openedAtMs ?? 0));
  const fromMs = Math.max(lookedAtFromMs(unread, readAtMs), openedAtMs - sameTimeMs);
  const untilMs = readAtMs + turnedWithinMs;
  for await (const fill of listFills(services.executions, account.name, fromMs, untilMs)) fills.push(fill);
  for (const position of turnable) {
    const turned = findTurned(position, fills);
    if (turned === null) await tellByHand(services, account.name, position, fills);
    else await treat(services, account, { position, turned, readAtMs, unread });
  }
}

async function tellByHand(
  services: TurnedServices,
  account: string,
  position: OpenPosition,
  fills: readonly Fill[],
): Promise<void> {
  const turning = findTurnedByHand(position, fills);
  if (turning === null) return;
  await createTeller(services).tell(account, byHandNews(turning, position.amount, account));
}

interface Found extends Omit<Reading, 'positions'> {
  readonly position: OpenPosition;
  readonly turned: TurnedPosition;
}

async function treat(services: TurnedServices, account: Account, found: Found): Promise<void> {
  const { position, turned, readAtMs, unread } = found;
  const { entries } = await services.ledger.list({ account: account.name, limit: mostEntries });
  const news = { turned, held: position.amount, account: account.name };
  const teller = createTeller(services);
  const pause = await services.ledger.readPause(account.name);
  if (pause?.kind === 'everything') return await teller.tell(account.name, pausedNews(news));
  const closes = services.turnedCloser.closes(account);
  const adopter = findAdopter(turned, entries);
  if (adopter !== null) return await teller.tell(account.name, adoptedNews(news, adopter, closes));
  if (!closes) return await teller.tell(account.name, openNews(news, null));
  const changedAtMs = position.modifiedAtMs ?? turned.fill.atMs;
  // The act itself looks at everything once more, and waits for what is left of this time.
  const asked = entries.filter((entry) => closesTurned(entry, position.market));
  const isUnderWay = asked.some(({ status }) => status === 'accepted' || status === 'sending');
  if (!isUnderWay && readAtMs - changedAtMs > settledAfterMs / 2) {
    await services.turnedCloser.ask(account.name, turned);
    // What is asked for late, as after a pause, has its time, too.
    if (asked.length === 0) return;
  }
  const seenAtMs = Math.max(turned.fill.atMs, unread?.untilMs ?? 0);
  if (readAtMs - seenAtMs > closedWithinMs)
    await teller.tell(account.name, openNews(news, 'nothing has closed it for minutes'));
}

function closesTurned({ signal }: Entry, market: string): boolean {
  return signal?.action === 'protect' && signal.turnedBy !== undefined && signal.market === market;
}
