import { type DatedPosition, findLastMoves, isTrusted } from '../../account/trust-reading.ts';
import { type Clock, hasPassed } from '../../base/clock.ts';
import { type Decimal, formatDecimal, parseDecimal, zero } from '../../base/decimal.ts';
import type { Positions } from '../../exchange/list-positions.ts';
import { type HiddenMarkets, mayHide } from '../../exchange/listed.ts';
import type { AccountFacts } from '../../ledger/account-facts.ts';
import type { Entry } from '../../ledger/entry.ts';
import type { LedgerEntrance } from '../../ledger/ledger.ts';
import { listRecords } from '../../ledger/order-record.ts';
import type { Order } from '../../model/order.ts';
import type { PositionWish } from '../../model/step-facts.ts';
import { type Guard, guardPosition } from '../../protection/guards.ts';
import { type GuardVerdict, judgeGuard } from '../../protection/judge-guard.ts';
import type { GuardedPosition } from '../../protection/shares.ts';
import { trailPrices } from '../../protection/trailing.ts';
import { describeName } from '../../protection/wanted.ts';
import {
  describeSight,
  type PositionPlace,
  type ProtectionSight,
  parseSight,
  parseWish,
  sightFactOf,
  wishFactOf,
} from '../../protection/wishes.ts';
import { askProtection, needOf, needOfWish, type ProtectionNeed } from './ask-protection.ts';

/** The lists of an account as following has read them, the positions last. */
export interface KeptReading {
  /** The followed entries, with what this reading has told of them, oldest first. */
  readonly entries: readonly Entry[];
  readonly open: readonly Order[];
  readonly hiddenOpen: HiddenMarkets;
  readonly positions: Positions;
  /** When the reading of the positions began. */
  readonly readAtMs: number;
}

/** What was asked for, and how often; of one account, in one process. */
export class AskedActs {
  readonly #asked = new Map<
    string,
    { readonly sign: string; readonly atMs: number; readonly times: number }
  >();

  /** Whether this must be asked for: for the first time, or again after a while in which nothing has changed. */
  isDue(name: string, sign: string, nowMs: number): boolean {
    const last = this.#asked.get(name);
    const times = last?.sign === sign ? last.times : 0;
    if (last !== undefined && times > 0 && !hasPassed(last.atMs, pauseAfter(times), nowMs)) return false;
    this.#asked.set(name, { sign, atMs: nowMs, times: times + 1 });
    return true;
  }

  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#asked.keys()) if (!names.has(name)) this.#asked.delete(name);
  }
}

const firstPauseMs = 10_000;
const longestPauseMs = 10 * 60_000;

function pauseAfter(times: number): number {
  return Math.min(firstPauseMs * 2 ** (times - 1), longestPauseMs);
}

/** Nothing is rounded here: the rules of the market are known where the order is planned. */
const anySteps = { amountStep: parseDecimal('0.00000001'), minAmount: zero };

/** What keeping the protection of an account needs. */
export interface KeepServices {
  readonly entrance: Pick<LedgerEntrance, 'accept'>;
  readonly facts: AccountFacts;
  readonly clock: Clock;
}

/**
 * Compares what protects each position with what should, and asks for an act where it does not fit. The act itself looks at
 * everything once more: it is carried out in the line of its market.
 *
 * @param readPrice the last price of a market, read only where a stop-loss follows it; null when it cannot be read
 * @throws RelayError `store_unavailable`
 */
export async function keepProtection(
  services: KeepServices,
  account: string,
  reading: KeptReading,
  asked: AskedActs,
  readPrice: (market: string) => Promise<Decimal | null>,
): Promise<void> {
  const nowMs = services.clock.nowMs();
  const names = new Set<string>();
  const needs: ProtectionNeed[] = [];
  for (const position of positionsOf(reading)) {
    if (!isKnown(position, reading)) continue;
    const entries = reading.entries.filter(({ signal }) => signal?.market === position.market);
    const open = reading.open.filter(({ market }) => market === position.market);
    const wish = parseWish(await services.facts.read(account, wishFactOf(position)));
    const before = parseSight(await services.facts.read(account, sightFactOf(position)));
    const seen = await trailPrices({ position, wish, records: listRecords(entries) }, before, readPrice);
    const { guards, byHand } = guardPosition(position, { entries, open, nowMs, wish, sight: seen });
    const sight = withReleased(seen, wish, guards);
    if (JSON.stringify(describeSight(sight)) !== JSON.stringify(describeSight(before)))
      await services.facts.write(account, sightFactOf(position), describeSight(sight));
    for (const guard of guards) {
      const verdict = judgeGuard(guard, byHand, anySteps);
      const name = `${guard.of} ${describeName(guard)}`;
      if (verdict.kind === 'fits') continue;
      names.add(name);
      if (!asked.isDue(name, describeVerdict(guard, verdict), nowMs)) continue;
      if (guard.record !== null) needs.push(needOf(guard.record, guard));
      else if (wish !== null) needs.push(needOfWish(account, wish, guard));
    }
  }
  asked.keepOnly(names);
  await askProtection(services, needs);
}

/** What a wish placed and the owner has ended by hand; of an entry, its own record tells it. */
function withReleased(
  sight: ProtectionSight,
  wish: PositionWish | null,
  guards: readonly Guard[],
): ProtectionSight {
  if (wish === null) return sight;
  const before = sight.ofWish === wish.signalId ? [...sight.released] : [];
  const released = guards
    .filter(({ of, isReleased, standing }) => of === wish.signalId && isReleased && standing.length === 0)
    .map(describeName);
  return { ...sight, ofWish: wish.signalId, released: new Set([...before, ...released]) };
}

function describeVerdict({ standing, amount, price }: Guard, { kind }: GuardVerdict): string {
  return [kind, formatDecimal(amount), price?.toFixed(), ...standing.map(({ orderId }) => orderId)].join(' ');
}

/** The positions that followed orders opened, or may have opened; of one that is gone, its absence. */
function positionsOf({ entries, positions }: KeptReading): readonly GuardedPosition[] {
  const places = new Map<string, PositionPlace>();
  for (const { market, positionSide, protects } of listRecords(entries)) {
    if (protects !== null) continue;
    const side = positionSide === undefined || positionSide === 'BOTH' ? null : positionSide;
    places.set(`${market} ${side}`, { market, side });
  }
  return [...places.values()].map(({ market, side }) => {
    const held = positions.positions.find(
      (position) => position.market === market && position.positionSide === (side ?? 'BOTH'),
    );
    return { market, side, amount: held?.amount ?? zero, openedAtMs: held?.openedAtMs ?? null };
  });
}

/** Whether the lists show all that the relay's own last orders have done in the market. */
function isKnown(
  { market, side, amount }: GuardedPosition,
  { entries, positions, hiddenOpen, readAtMs }: KeptReading,
): boolean {
  if (mayHide(positions.hidden, market) || mayHide(hiddenOpen, market)) return false;
  const held = positions.positions.find(
    (position) => position.market === market && position.positionSide === (side ?? 'BOTH'),
  );
  const dated: DatedPosition = {
    position: { amount, side },
    readAtMs,
    modifiedAtMs: held?.modifiedAtMs ?? null,
  };
  return findLastMoves(entries, market).every((move) => isTrusted(dated, move));
}
