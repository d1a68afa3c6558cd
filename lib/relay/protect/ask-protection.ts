import { hash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { LedgerEntrance, NewEntry } from '../../ledger/ledger.ts';
import type { OrderRecord } from '../../ledger/order-record.ts';
import type { PositionSide } from '../../model/order.ts';
import { protectSuffixOf } from '../../model/protect-id.ts';
import type { ProtectSignal } from '../../model/signal.ts';
import type { PositionWish } from '../../model/step-facts.ts';
import type { GuardName } from '../../protection/wanted.ts';
import { clientOrderIdOf, fingerprintOf, isSignalId } from '../../signals/identity.ts';

/** What must be looked at: one stop-loss or take-profit of a position. */
export interface ProtectionNeed extends GuardName {
  /** Present if what an exit has turned is to be closed: the id of its deal. */
  readonly turnedBy?: number;
  readonly account: string;
  readonly market: string;
  readonly ticker: string;
  readonly strategy: string | undefined;
  readonly positionSide: PositionSide | undefined;
}

/** The need of what an order asked for. */
export function needOf(record: OrderRecord, { of, role, part }: GuardName): ProtectionNeed {
  const { account, market, strategy, asked, positionSide } = record;
  const name = { of, role, ...(part === undefined ? {} : { part }) };
  return { ...name, account, market, ticker: asked?.ticker ?? market, strategy, positionSide };
}

/** The need of what an alert asked for the whole position. */
export function needOfWish(
  account: string,
  { market, strategy, side }: PositionWish,
  { of, role, part }: GuardName,
): ProtectionNeed {
  const name = { of, role, ...(part === undefined ? {} : { part }) };
  return { ...name, account, market, ticker: market, strategy, positionSide: side };
}

/** As many as can have been looked at in one second, and more. What is not asked for, following finds. */
const mostIds = 30;

/**
 * Stores a signal for each stop-loss or take-profit that may not fit, in the line of its market. Asked for twice before it
 * was looked at, it is one signal; one too many finds that all fits.
 *
 * @throws RelayError `store_unavailable`
 */
export async function askProtection(
  { entrance, clock }: { readonly entrance: Pick<LedgerEntrance, 'accept'>; readonly clock: Clock },
  needs: readonly ProtectionNeed[],
): Promise<void> {
  const nowMs = clock.nowMs();
  for (const need of needs) {
    for (let second = 0; second < mostIds; second += 1) {
      const accepted = await entrance.accept([protectEntryOf(need, nowMs, nowMs + 1000 * second)], null);
      // A signal that waits sees what has changed since. One that was looked at has not seen it: the next second's id is free.
      const isWaiting = accepted.result === 'stored' && accepted.signals[0]?.entry.status === 'accepted';
      if (isWaiting) break;
    }
  }
}

/** @param idMs what its id is made of */
export function protectEntryOf(need: ProtectionNeed, nowMs: number, idMs: number): NewEntry {
  const { account, market, ticker, strategy, positionSide, of, role, part, turnedBy } = need;
  const signalId = protectIdOf(need, idMs);
  const signal: ProtectSignal = {
    ticker,
    market,
    timeMs: null,
    maxLagMs: null,
    // What it sells is a result of the same strategy.
    ...(strategy === undefined ? {} : { strategy }),
    ...(positionSide === undefined ? {} : { positionSide }),
    action: 'protect',
    role,
    of,
    ...(part === undefined ? {} : { part }),
    ...(turnedBy === undefined ? {} : { turnedBy }),
  };
  return {
    account,
    signalId,
    signal,
    clientOrderId: clientOrderIdOf(account, signalId),
    fingerprint: fingerprintOf(Buffer.from(signalId)),
    atMs: nowMs,
  };
}

/** `entry-1:stop-t3k9f2`, `entry-1:target2-t3k9f2`; of an id without room for it, a digest instead. */
export function protectIdOf(
  { of, ...name }: Pick<ProtectionNeed, 'of' | 'role' | 'part' | 'turnedBy'>,
  idMs: number,
): string {
  const suffix = protectSuffixOf(name, idMs);
  const plain = `${of}${suffix}`;
  return isSignalId(plain) ? plain : `${digestOf(of)}${suffix}`;
}

function digestOf(of: string): string {
  return `protect-${hash('sha256', of, 'hex').slice(0, 24)}`;
}

/** With what the ids of the signals begin that keep what a signal asked for. Others may begin so, too. */
export function protectPrefixesOf(of: string): readonly string[] {
  return [`${of}:`, `${digestOf(of)}:`];
}
