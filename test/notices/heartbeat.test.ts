import { expect, test } from '@jest/globals';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { describeDay, dueDay } from '../../lib/notices/heartbeat.ts';
import { defaultLevels, type NoticeSettings } from '../../lib/notices/notice-settings.ts';
import { orderEntry } from '../ledger/ledger-contract.ts';

const settings = (heartbeatAt: string, timeZone: string): NoticeSettings => ({
  channels: [],
  levels: defaultLevels,
  accounts: {},
  heartbeatAt,
  timeZone,
});

test.each([
  ['2026-11-24T07:59:59Z', '08:00', 'Etc/UTC', '2026-11-23'],
  ['2026-11-24T08:00:00Z', '08:00', 'Etc/UTC', '2026-11-24'],
  ['2026-11-24T23:30:00Z', '08:00', 'Asia/Tokyo', '2026-11-25'],
  ['2026-11-24T22:30:00Z', '08:00', 'Asia/Tokyo', '2026-11-24'],
  ['2026-11-24T05:30:00Z', '00:00', 'America/New_York', '2026-11-24'],
])('at %s, the heartbeat of %s in %s is that of %s', (now, at, zone, day) => {
  expect(dueDay(settings(at, zone), Date.parse(now))).toBe(day);
});

test('a day has its signals, fills and unknown outcomes, the pause and what is held', async () => {
  const file = openSqlite(':memory:');
  const ledger = createSqliteLedger(file);
  const executions = createSqliteExecutions(file);
  const facts = createSqliteAccountFacts(file);
  const nowMs = Date.UTC(2026, 10, 24, 12);
  const hourAgoMs = nowMs - 3_600_000;
  const key = { account: 'main', signalId: 'b' };
  await ledger.accept([orderEntry('a', { atMs: nowMs - 90_000_000 })], null);
  await ledger.accept([orderEntry('b', { atMs: hourAgoMs })], null);
  await ledger.start(key, { status: 'sending', atMs: hourAgoMs, note: '' }, null);
  await ledger.move(key, { from: 'sending', step: { status: 'unknown', atMs: hourAgoMs, note: '' } });
  await executions.recordOthers([
    {
      account: 'main',
      market: 'BTC_USDT',
      dealId: 1,
      atMs: hourAgoMs,
      signalId: '',
      orderId: 2,
      role: 'other',
      side: 'buy',
      liquidity: 'taker',
      amount: '1',
      price: '2',
      notional: '2',
      fee: '0',
      feeAsset: 'USDT',
    },
  ]);
  await ledger.writePause('main', { sinceMs: hourAgoMs, reason: 'lunch', kind: 'entries' });
  const position = { positionId: 1, market: 'BTC_PERP', amount: '-0.5', positionSide: 'BOTH' };
  await facts.write('main', 'positions', { readAtMs: hourAgoMs, positions: [position] });

  expect(await describeDay({ ledger, executions, facts }, 'main', nowMs)).toEqual([
    '1 signals, 1 fills, 1 unknown',
    'paused: lunch',
    'holds -0.5 BTC_PERP, as read at 2026-11-24 11:00 UTC',
  ]);
  file.close();
});
