import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import { firstState } from '../../lib/notices/channel-state.ts';
import { createSqliteChannelStates } from '../../lib/notices/sqlite-channel-states.ts';

let file: SqliteFile;
beforeEach(() => {
  file = openSqlite(':memory:');
});
afterEach(() => file.close());

test('what a channel has told is not told again because the disk did not take the note of it', async () => {
  const states = createSqliteChannelStates(file);
  await states.keepOnly(['slack'], 3);
  const told = { ...firstState, seq: 7, sentAtMs: 1_000 };

  const lost = states.write('slack', told);
  // As a full disk does.
  file.database.exec('ROLLBACK');
  await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' });

  expect(await states.read('slack')).toEqual(told);
  // It is noted now: another process reads the same.
  expect(await createSqliteChannelStates(file).read('slack')).toEqual(told);
});

test('memory says what was told while it still cannot be noted', async () => {
  const states = createSqliteChannelStates(file);
  await states.keepOnly(['slack'], 3);
  const told = { ...firstState, seq: 7 };
  const lost = states.write('slack', told);
  file.database.exec('ROLLBACK');
  await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' });

  const reading = states.read('slack');
  file.database.exec('ROLLBACK');

  expect(await reading).toEqual(told);
  expect(await createSqliteChannelStates(file).read('slack')).toMatchObject({ seq: 3 });
});
