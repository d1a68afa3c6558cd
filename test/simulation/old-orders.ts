import type { SqliteFile } from '../../lib/base/sqlite.ts';
import type { EntryKey } from '../../lib/ledger/entry.ts';
import type { SimulatedWorld } from './simulated-world.ts';

const prefix = 'old-';
const count = 1000;
const hourMs = 3_600_000;

export function isOldOrder({ signalId }: EntryKey): boolean {
  return signalId.startsWith(prefix);
}

/** Stores orders of a month ago that have long filled, but still count as open in the ledger. */
export function storeOldOrders({ file, stage }: SimulatedWorld, startMs: number): void {
  for (const signalId of insertOldOrders(file, startMs))
    for (const status of ['accepted', 'sending', 'placed'] as const)
      stage.history.noteStatus({ account: 'main', signalId }, status, startMs);
  stage.history.note(startMs, 'ledger', `counts ${count} old orders as open`, 'ledger: old orders');
}

/**
 * Writes them into the ledger behind its back: as many as the relay reads at once.
 *
 * @returns the ids of their signals
 */
export function insertOldOrders(file: SqliteFile, startMs: number): readonly string[] {
  const insert = file.database.prepare(
    `INSERT INTO entries (account, signal_id, status, signal, market, client_order_id, fingerprint, created_at_ms,
       updated_at_ms, accepted_at_ms, ordered_at_ms, steps, order_id, order_open)
     VALUES ('main', ?1, 'placed', ?2, 'BTC_USDT', ?1, 'old', ?3, ?3, ?3, ?3, ?4, ?5, 1)`,
  );
  const signal = JSON.stringify({
    action: 'order',
    orderType: 'stop_limit',
    ticker: 'BTCUSDT',
    market: 'BTC_USDT',
    side: 'buy',
    size: { unit: 'base', quantity: '0.01' },
    stopPrice: '60000',
    limitPrice: null,
  });
  return Array.from({ length: count }, (_, index) => {
    const atMs = startMs - 720 * hourMs + index;
    const steps = JSON.stringify([{ status: 'placed', atMs, note: 'long ago' }]);
    const signalId = `${prefix}${index}`;
    insert.run(signalId, signal, atMs, steps, 900_000_000 + index);
    return signalId;
  });
}
