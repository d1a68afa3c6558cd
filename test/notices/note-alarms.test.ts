import { expect, test } from '@jest/globals';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { noteAlarms, openNoticeOutbox } from '../../lib/notices/notice-outbox.ts';
import { createListeningLog } from '../support/listening-log.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { recordAlarms } from '../support/record-alarms.ts';

test('an alarm that cannot be noted while the disk is full is noted once it can be, with its time', async () => {
  const file = openSqlite(':memory:');
  const outbox = await openNoticeOutbox(file, ['slack']);
  const clock = createManualClock(1_000);
  const { log, lines } = createListeningLog();
  const { alarms, raised } = recordAlarms();
  const noted = noteAlarms(alarms, outbox, clock, log);
  const listed = () => outbox.changes.list(0, 10).map(({ change }) => change);
  file.database.exec(
    `CREATE TRIGGER full BEFORE INSERT ON ledger_changes BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`,
  );

  noted.raise({ name: 'outcome_unknown', message: 'look' }, { account: 'main', signalId: 'a' });
  await noted.noteRest();
  await noted.noteRest();
  const during = [listed(), raised.length, lines.length];
  file.database.exec('DROP TRIGGER full');
  clock.advance(5_000);
  await noted.noteRest();
  await noted.noteRest();

  expect(during).toEqual([[], 1, 1]);
  expect(listed()).toEqual([expect.objectContaining({ kind: 'alarm', atMs: 1_000 })]);
  file.close();
});
