import { hash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { LedgerEntrance, NewEntry } from '../../ledger/ledger.ts';
import type { OrderRecord } from '../../ledger/order-record.ts';
import type { ExitRole, ProtectSignal } from '../../model/signal.ts';
import { clientOrderIdOf, fingerprintOf, isSignalId } from '../../signals/identity.ts';

/** What must be looked at: the stop-loss or take-profit of a signal. */
export interface ProtectionNeed {
  /** The order that opened what is protected. */
  readonly source: Pick<OrderRecord, 'account' | 'signalId' | 'market' | 'strategy' | 'asked'>;
  readonly role: ExitRole;
}

const suffixes: Readonly<Record<ExitRole, string>> = { stop_loss: 'stop', take_profit: 'target' };

/**
 * Stores a signal for each stop-loss or take-profit that may not fit, in the line of its market. Asked for twice in one
 * second, it is one signal; one too many finds that all fits.
 *
 * @throws RelayError `store_unavailable`
 */
export async function askProtection(
  { entrance, clock }: { readonly entrance: Pick<LedgerEntrance, 'accept'>; readonly clock: Clock },
  needs: readonly ProtectionNeed[],
): Promise<void> {
  const nowMs = clock.nowMs();
  // Take-profits first: what takes the place of a pair cancels both of its orders.
  for (const need of needs) {
    // An id that is taken is the same need, asked for before.
    await entrance.accept([protectEntryOf(need, nowMs)], null);
  }
}

function protectEntryOf({ source, role }: ProtectionNeed, nowMs: number): NewEntry {
  const { account, signalId: of, market, strategy, asked } = source;
  const signalId = protectIdOf(of, role, nowMs);
  const signal: ProtectSignal = {
    ticker: asked?.ticker ?? market,
    market,
    timeMs: null,
    maxLagMs: null,
    // What it sells is a result of the same strategy.
    ...(strategy === undefined ? {} : { strategy }),
    action: 'protect',
    role,
    of,
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

/** `entry-1:stop-t3k9f2`; of an id without room for it, a digest instead. */
function protectIdOf(of: string, role: ExitRole, nowMs: number): string {
  const suffix = `:${suffixes[role]}-${Math.floor(nowMs / 1000).toString(36)}`;
  const plain = `${of}${suffix}`;
  return isSignalId(plain) ? plain : `protect-${hash('sha256', of, 'hex').slice(0, 24)}${suffix}`;
}
