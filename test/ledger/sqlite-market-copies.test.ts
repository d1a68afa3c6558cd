import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createSqliteMarketCopies } from '../../lib/ledger/sqlite-market-copies.ts';
import { describeMarketCopies, market } from './market-copies-contract.ts';

describeMarketCopies('the copy of the market list on the disk', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'market-copies-'));
  const path = join(folder, 'relay.db');
  const files = [openSqlite(path)];
  return {
    open(exchange) {
      const file = openSqlite(path);
      files.push(file);
      return createSqliteMarketCopies(file, exchange);
    },
    async write(text) {
      const file = openSqlite(path);
      createSqliteMarketCopies(file, 'any');
      file.database.prepare('INSERT INTO market_copies VALUES (1, ?)').run(text);
      file.close();
    },
    async close() {
      for (const file of files) file.close();
      rmSync(folder, { recursive: true });
    },
  };
});

test('a missing database is store_unavailable', async () => {
  const file = openSqlite(':memory:');
  const copies = createSqliteMarketCopies(file, 'any');
  file.close();

  await expect(copies.load()).rejects.toMatchObject({ code: 'store_unavailable' });
  await expect(copies.save({ readAtMs: 1, markets: [market] })).rejects.toMatchObject({
    code: 'store_unavailable',
  });
});
