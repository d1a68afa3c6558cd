import { isDeepStrictEqual } from 'node:util';
import { type DealServices, mostClockAheadMs, readOtherDeals } from '../account/account-deals.ts';
import { checkLossOfDay, hasLimitOfLoss } from '../account/check-loss.ts';
import type { DealSource } from '../account/deal-places.ts';
import { settledAfterMs, turnedWithinMs } from '../account/find-turned.ts';
import { keepHidden, readPositions } from '../account/read-positions.ts';
import { hasPassed } from '../base/clock.ts';
import { formatDecimal, zero } from '../base/decimal.ts';
import { describeSafely } from '../base/describe-error.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { ExchangeError } from '../exchange/errors.ts';
import { farthestBackMs } from '../exchange/lag.ts';
import type { Entry } from '../ledger/entry.ts';
import { mostFollowed } from '../ledger/executions.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { orderRecordOf } from '../ledger/order-record.ts';
import { limitsOf } from '../limits/check-order.ts';
import type { Account } from '../model/account.ts';
import type { OpenPosition } from '../model/holdings.ts';
import type { Settings } from '../model/settings.ts';
import {
  describeReduction,
  type Explanation,
  explainReduction,
  findReductions,
} from './explain-reduction.ts';
import { findUnread } from './unread-time.ts';
import { createRepeatedAlarms, type RepeatedAlarms } from './watch-alarms.ts';
import { delistedKey, watchDelistings } from './watch-delistings.ts';
import { watchLateCloses } from './watch-late-closes.ts';
import { describeWatch, parseWatch, type Reduction, type WatchState } from './watch-state.ts';
import { type TurnedCloser, watchTurned } from './watch-turned.ts';

/** The services that the watch needs. */
export interface WatchServices extends DealServices {
  readonly ledger: Ledger;
  readonly settings: Settings;
  readonly turnedCloser: TurnedCloser;
  readonly exchangeTimeoutMs: number;
  exchangeFor(account: string): Promise<ExchangeClient>;
}

/**
 * Watches the positions of every account that may trade: a margin call, a liquidation, a position that the exchange
 * reduced, the loss of the day, and markets that will be delisted. Nothing is asked while nothing is open.
 *
 * Every alarm is raised before what says that it was raised is stored: after a crash it comes twice rather than never.
 *
 * @throws RelayError `store_unavailable`
 */
export async function watchPositions(
  services: WatchServices,
  startedAtMs: number,
  limits: SendOptions,
): Promise<void> {
  let listing: Promise<Recent> | null = null;
  const listRecent = () => {
    listing ??= listSent(services, startedAtMs);
    return listing;
  };
  for (const account of Object.values(services.settings.accounts))
    if (account.mode !== 'dry-run')
      await watchAccount({ ...services, listRecent }, account, startedAtMs, {
        timeoutMs: services.exchangeTimeoutMs,
        ...limits,
      });
}

interface AccountWatch extends WatchServices {
  /** The entries of all accounts whose orders were sent of late; read once in a run, and only if an account needs it. */
  listRecent(): Promise<Recent>;
}

/** An order that was stored longer ago than this is followed, or settled, or never sent. */
const recentMs = 10 * 60_000;
const mostRecent = 100;

interface Recent {
  readonly entries: readonly Entry[];
  /** False when there are more than were read: any account may have one. */
  readonly isWhole: boolean;
}

async function listSent({ ledger }: WatchServices, startedAtMs: number): Promise<Recent> {
  const since = { oldestFirst: true, startMs: startedAtMs - recentMs, limit: mostRecent };
  const pages = await Promise.all(
    (['placed', 'unknown'] as const).map((status) => ledger.list({ status, ...since })),
  );
  return {
    entries: pages.flatMap(({ entries }) => entries),
    isWhole: pages.every(({ next }) => next === null),
  };
}

async function watchAccount(
  services: AccountWatch,
  account: Account,
  startedAtMs: number,
  options: SendOptions,
): Promise<void> {
  const before = parseWatch(await services.facts.read(account.name, 'positions'));
  const followed = await services.executions.followed(account.name, mostFollowed);
  const alarms = createRepeatedAlarms(services, account.name, before?.alarmedAtMs ?? {});
  const isDue = await mayHavePosition(services, account, before, followed);
  if (!isDue && followed.length === 0) return;
  let reading: Omit<WatchState, 'alarmedAtMs'> | null = null;
  try {
    const client = await services.exchangeFor(account.name);
    if (client.dialect !== 'live') return;
    if (isDue) {
      reading = await readAndCompare(services, account, { client, options, before, alarms });
      // Of an account with followed orders, the follower reads them; with a limit of loss, the check has read them.
      if (followed.length === 0 && !hasLimitOfLoss(account))
        await readDealsSafely(services, account, { client, options });
    }
    const inUse = [
      ...((reading ?? before)?.positions ?? []),
      ...followed.flatMap(({ signal }) => signal ?? []),
    ];
    const isWatched = await watchDelistings(
      client,
      inUse.map(({ market }) => market),
      { startedAtMs, options, alarms },
    );
    if (!isWatched) alarms.keep(delistedKey);
  } catch (error) {
    // Whatever the reason is: one account's missing key must not stop the watch of the others.
    noteUnread(services, account, { before, error, alarms });
    alarms.keep(delistedKey);
  }
  const kept = reading ?? before;
  if (kept === null || (reading === null && isDeepStrictEqual(alarms.times, before?.alarmedAtMs ?? {})))
    return;
  await services.facts.write(
    account.name,
    'positions',
    describeWatch({ ...kept, alarmedAtMs: alarms.times }),
  );
}

/** Whether the account had a position when it was last read, or may have had one, or an order or a deal may have opened one since. */
async function mayHavePosition(
  services: AccountWatch,
  account: Account,
  before: WatchState | null,
  followed: readonly Entry[],
): Promise<boolean> {
  const { positions = [], hidden = [], unexplained = [], unpriced = [] } = before ?? {};
  if (positions.length + hidden.length + unexplained.length + unpriced.length > 0) return true;
  if (followed.some((entry) => isOfCollateral(account, entry))) return true;
  const recent = await services.listRecent();
  if (!recent.isWhole) return true;
  if (recent.entries.some((entry) => entry.account === account.name && isOfCollateral(account, entry)))
    return true;
  return await hasDealtSince(services, account, before?.readAtMs ?? 0);
}

/**
 * Whether a deal of the account is stored that is newer than the last reading of its positions. Between two readings an order
 * may fill and be followed to its end: within a minute, or as soon as the exchange is back after a time in which it could not
 * be read.
 */
async function hasDealtSince(
  { executions, clock }: AccountWatch,
  { name, markets }: Account,
  readAtMs: number,
): Promise<boolean> {
  if (Object.values(markets).every(({ tradesOn }) => tradesOn === 'spot')) return false;
  const nowMs = clock.nowMs();
  const { fills } = await executions.listFills({
    account: name,
    // That reading may not have shown the newest deals, and the relay's clock may be ahead of the exchange's.
    fromMs: Math.max(Math.min(readAtMs, nowMs) - settledAfterMs - mostClockAheadMs, nowMs - farthestBackMs),
    untilMs: nowMs + turnedWithinMs,
    limit: 1,
  });
  return fills.length > 0;
}

/** A market that the account does not trade any more may still have a position. */
function isOfCollateral(account: Account, entry: Entry): boolean {
  if (entry.signal === null) return false;
  const limits = limitsOf(account, entry.signal.market);
  return limits === null ? orderRecordOf(entry)?.spot == null : limits.tradesOn !== 'spot';
}

interface Comparing {
  readonly client: ExchangeClient;
  readonly options: SendOptions;
  readonly before: WatchState | null;
  readonly alarms: RepeatedAlarms;
}

async function readAndCompare(services: WatchServices, account: Account, comparing: Comparing) {
  const { client, options, before, alarms } = comparing;
  const read = await readPositions({ client, clock: services.clock, limits: options });
  const reading = keepHidden(read, before);
  const everyMs = services.settings.unknownAlarmAfterMs;
  for (const position of reading.positions) warnOfLiquidation(position, alarms, everyMs);
  const unread = await findUnread(services.facts, account.name, before, reading.readAtMs);
  await watchTurned(services, account, { ...reading, unread });
  await watchLateCloses(services, account.name, reading.positions, reading.readAtMs);
  const reductions = before === null ? [] : [...before.unexplained, ...findReductions(before, reading)];
  const unexplained: Reduction[] = [];
  for (const reduction of reductions) {
    const explanation = await explainReduction(client, reduction, options);
    const isOpen = explanation === 'unexplained' || explanation === 'unread';
    if (!isOpen || hasPassed(reduction.seenAtMs, explainWithinMs, reading.readAtMs))
      tellReduction(reduction, explanation, alarms);
    else unexplained.push(reduction);
  }
  const unpriced = await checkLossOfDay(services, account, { client, reading, held: before, options });
  return { ...reading, unexplained, unread, unpriced };
}

/** What cannot be read now is read later, and the reading of the positions counts in any case. */
async function readDealsSafely(services: AccountWatch, account: Account, source: DealSource): Promise<void> {
  try {
    await readOtherDeals(services, account, { ...source, asksAlone: true });
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    services.log.warn('the deals of an account could not be read; the next run tries again', {
      account: account.name,
      reason: describeSafely(error),
    });
  }
}

function warnOfLiquidation(position: OpenPosition, alarms: RepeatedAlarms, everyMs: number): void {
  const { market, positionSide, liquidationState, liquidationPrice } = position;
  if (liquidationState === null) return;
  const message =
    liquidationState === 'liquidation'
      ? 'a position is being liquidated by the exchange: check the account at once (`npx relay positions`)'
      : 'a position is in danger of liquidation: add collateral or reduce the position at once (`npx relay positions` shows its liquidation price)';
  alarms.raise(
    `danger ${market} ${positionSide} ${liquidationState}`,
    { name: 'position_in_danger', message },
    {
      market,
      positionSide,
      amount: formatDecimal(position.amount),
      liquidationState,
      liquidationPrice: liquidationPrice === null ? null : formatDecimal(liquidationPrice),
    },
    everyMs,
  );
}

/** A list of fills may lag behind the list of positions by seconds. */
const explainWithinMs = 3 * 60_000;

const causes: Readonly<Record<Exclude<Explanation, 'own_orders'>, string>> = {
  auto_deleveraging:
    'the exchange reduced a position by auto-deleveraging, and cancels the open orders of its market then: check position and stops (`npx relay positions`, `npx relay orders`)',
  liquidation:
    'the exchange liquidated a position, and cancels the open orders of its market then: check the account at once (`npx relay positions`, `npx relay orders`)',
  delisting:
    'the exchange closed a position because it takes the market off: remove the market from relay.config.ts',
  unread:
    'and the fills of the account cannot be read completely, so nobody knows why: compare it with the history on the website of the exchange (`npx relay positions`)',
  unexplained:
    'and no fill of the account explains it: compare it with the history on the website of the exchange (`npx relay positions`)',
};

function tellReduction(reduction: Reduction, explanation: Explanation, alarms: RepeatedAlarms): void {
  if (explanation === 'own_orders') return;
  const { market, positionSide, from, to, sinceMs } = reduction;
  const changed = from.times(to).lt(zero)
    ? 'a position was closed and the opposite one opened'
    : 'a position became smaller';
  const isKnown = explanation !== 'unread' && explanation !== 'unexplained';
  alarms.raise(
    `reduced ${market} ${positionSide} ${describeReduction(reduction)} ${sinceMs}`,
    {
      name: 'position_reduced',
      message: isKnown ? causes[explanation] : `${changed}, ${causes[explanation]}`,
    },
    { market, positionSide, from: formatDecimal(from), to: formatDecimal(to), cause: explanation },
    0,
  );
}

function noteUnread(
  { settings, clock, log }: WatchServices,
  account: Account,
  {
    before,
    error,
    alarms,
  }: { readonly before: WatchState | null; readonly error: unknown; readonly alarms: RepeatedAlarms },
): void {
  const reason = describeSafely(error);
  log.warn('the positions of an account could not be read; the next run tries again', {
    account: account.name,
    reason,
  });
  const ageMs = before === null ? 0 : clock.nowMs() - before.readAtMs;
  if (before === null || before.positions.length === 0 || Math.abs(ageMs) < settings.unknownAlarmAfterMs)
    return;
  const message =
    'positions were open and could not be read since: nobody watches their liquidation; check them on the website of the exchange, and the connection with `npx relay doctor`';
  alarms.raise(
    'unread',
    { name: 'positions_unread', message },
    { ageMs, reason },
    settings.unknownAlarmAfterMs,
  );
}
