import type { SqliteFile } from '../base/sqlite.ts';

/** SQLite takes more; a longer statement would only be slower to read. */
const mostAtOnce = 500;

/**
 * Those of the client order ids that the ledger has, of whichever account. It reads the whole ledger: to be asked for the
 * few that are found by no order id.
 *
 * @throws RelayError `store_unavailable`
 */
export function findClientOrderIds(file: SqliteFile, clientOrderIds: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (let from = 0; from < clientOrderIds.length; from += mostAtOnce) {
    const asked = JSON.stringify(clientOrderIds.slice(from, from + mostAtOnce));
    const rows = file.read(() =>
      file.database
        .prepare(
          'SELECT client_order_id FROM entries WHERE client_order_id IN (SELECT value FROM json_each(?))',
        )
        .all(asked),
    );
    for (const row of rows) found.add(String(row['client_order_id']));
  }
  return found;
}
