import { type DatedPosition, findLastMoves, isTrusted } from '../../account/trust-reading.ts';
import { type Clock, hasPassed } from '../../base/clock.ts';
import { formatDecimal, parseDecimal, zero } from '../../base/decimal.ts';
import type { Positions } from '../../exchange/list-positions.ts';
import { type HiddenMarkets, mayHide } from '../../exchange/listed.ts';
import type { Entry } from '../../ledger/entry.ts';
import type { LedgerEntrance } from '../../ledger/ledger.ts';
import { orderSignalOf } from '../../ledger/sent-order.ts';
import type { Order } from '../../model/order.ts';
import { type Guard, guardPosition } from '../../protection/guards.ts';
import { type GuardVerdict, judgeGuard } from '../../protection/judge-guard.ts';
import type { GuardedPosition } from '../../protection/shares.ts';
import { askProtection, type ProtectionNeed } from './ask-protection.ts';

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
export class AskedProtection {
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

/**
 * Compares what protects each position with what should, and asks for an act where it does not fit. The act itself looks at
 * everything once more: it is carried out in the line of its market.
 *
 * @throws RelayError `store_unavailable`
 */
export async function keepProtection(
  services: { readonly entrance: Pick<LedgerEntrance, 'accept'>; readonly clock: Clock },
  reading: KeptReading,
  asked: AskedProtection,
): Promise<void> {
  const nowMs = services.clock.nowMs();
  const names = new Set<string>();
  const needs: ProtectionNeed[] = [];
  for (const position of positionsOf(reading)) {
    if (!isKnown(position, reading)) continue;
    const entries = reading.entries.filter(({ signal }) => signal?.market === position.market);
    const open = reading.open.filter(({ market }) => market === position.market);
    const { guards, byHand } = guardPosition(position, { entries, open, nowMs });
    for (const guard of guards) {
      const verdict = judgeGuard(guard, byHand, anySteps);
      const name = `${guard.record.signalId} ${guard.role}`;
      if (verdict.kind === 'fits') continue;
      names.add(name);
      if (asked.isDue(name, describeVerdict(guard, verdict), nowMs))
        needs.push({ role: guard.role, source: guard.record });
    }
  }
  asked.keepOnly(names);
  await askProtection(services, needs);
}

function describeVerdict({ standing, amount }: Guard, { kind }: GuardVerdict): string {
  return [kind, formatDecimal(amount), ...standing.map(({ orderId }) => orderId)].join(' ');
}

/** The positions that followed entries opened, or may have opened; of one that is gone, its absence. */
function positionsOf({ entries, positions }: KeptReading): readonly GuardedPosition[] {
  const places = new Map<string, Pick<GuardedPosition, 'market' | 'side'>>();
  for (const entry of entries) {
    const asked = orderSignalOf(entry);
    if (asked === null || entry.signal?.action === 'protect') continue;
    const named = asked.positionSide;
    const side = named === undefined || named === 'BOTH' ? null : named;
    places.set(`${asked.market} ${side}`, { market: asked.market, side });
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
