import { expect, test } from '@jest/globals';
import type { LogFacts } from '../../lib/base/log.ts';
import type { AlarmChange } from '../../lib/ledger/ledger-change.ts';
import { channels } from '../../lib/notices/channels.ts';
import { gather } from '../../lib/notices/gather.ts';
import { createNews, type News } from '../../lib/notices/news.ts';
import { defaultLevels, levelOf, type NoticeSettings } from '../../lib/notices/notice-settings.ts';
import { tellChange } from '../../lib/notices/tell-change.ts';
import { staleAlarm } from '../../lib/relay/settle/settle-entry.ts';
import { checkStaleness } from '../../lib/signals/staleness.ts';
import { spotSettings } from '../support/spot-settings.ts';

const nowMs = Date.UTC(2026, 10, 24, 12);
const settings: NoticeSettings = {
  channels: ['slack'],
  levels: defaultLevels,
  accounts: { quiet: { alarm: 'off', filled: 'silent' } },
  heartbeatAt: '08:00',
  timeZone: 'Etc/UTC',
};

function alarm(name: string, facts: LogFacts, message = 'something'): AlarmChange {
  return {
    kind: 'alarm',
    id: '1',
    account: 'main',
    atMs: nowMs,
    name,
    message,
    facts: { account: 'main', ...facts },
  };
}

const keyOf = (change: AlarmChange) => tellChange(change)[0]?.key;

test.each([
  ['another message', alarm('unknown_word', {}, 'one'), alarm('unknown_word', {}, 'two')],
  [
    'another signal',
    alarm('trigger_unexpected', { signalId: 'a' }),
    alarm('trigger_unexpected', { signalId: 'b' }),
  ],
  [
    'a fact that nobody thought of',
    alarm('alert_repeated', { firstSignalId: 'a' }),
    alarm('alert_repeated', { firstSignalId: 'b' }),
  ],
  [
    'another order whose outcome is unknown',
    alarm('outcome_unknown', { signalId: 'a' }),
    alarm('outcome_unknown', { signalId: 'b' }),
  ],
])('an alarm with %s is other news', (_, one, other) => {
  expect(keyOf(one)).not.toBe(keyOf(other));
});

test('the alarm of a close that is too old is the same news when a later try finds it older', () => {
  const close = {
    action: 'close',
    ticker: 'BTCUSDT',
    market: 'BTC_USDT',
    timeMs: null,
    maxLagMs: 15_000,
  } as const;
  const arrival = { receivedAtMs: nowMs, defaultMaxLagMs: 60_000 };
  const messages = [16_001, 27_242].map((laterMs) => {
    const denial = checkStaleness(close, arrival, nowMs + laterMs);
    const entry = { account: 'main', signalId: 'close-1', signal: close };
    return denial && staleAlarm({ settings: spotSettings }, entry, denial).alarm?.message;
  });
  expect(messages[0]).toContain('the alert is too old: at most 15 s is allowed');
  expect(messages[1]).toBe(messages[0]);
});

test('an alarm that is raised again with a command of a later moment is the same news', () => {
  const unprotected = (id: string) =>
    alarm('position_unprotected', { whatToDo: `npx relay signal --id ${id}` });

  expect(keyOf(unprotected('stop-1'))).toBe(keyOf(unprotected('stop-2')));
});

test('an alarm that is raised again with other figures is the same news', () => {
  expect(keyOf(alarm('signals_waiting', { signals: 2, note: 'x' }))).toBe(
    keyOf(alarm('signals_waiting', { signals: 3, note: 'y' })),
  );
});

test.each([
  ['outcome_unknown', 'unknown'],
  ['position_unprotected', 'protection'],
  ['daily_loss', 'limit'],
  ['position_in_danger', 'alarm'],
  ['a_name_of_another_release', 'alarm'],
])('the alarm %s is told as %s', (name, category) => {
  expect(tellChange(alarm(name, {}))).toMatchObject([{ category, isSingle: true }]);
});

test('a command is told whole or not at all', () => {
  const detailOf = (whatToDo: string) =>
    tellChange(alarm('position_turned', { market: 'BTC_PERP', whatToDo }))[0]?.detail;
  const command = 'npx relay close BTC_PERP --account main';
  expect(detailOf(command)).toBe(`market: BTC_PERP; whatToDo: ${command}`);
  expect(detailOf(Array(20).fill(command).join('; '))).toBe(
    'whatToDo: the log has the command; market: BTC_PERP',
  );
});

test('a notice holds no line breaks, and nothing that turns the direction of writing', () => {
  const [news] = tellChange(alarm('unknown_word', { word: 'a\n\u202eb' }, 'x\r\ny\u0000'));
  expect(news).toMatchObject({ headline: 'ALARM: x y', detail: 'word: a b' });
});

test('an account sets its own levels', () => {
  expect([
    levelOf(settings, 'quiet', 'alarm'),
    levelOf(settings, 'main', 'alarm'),
    levelOf(settings, null, 'alarm'),
  ]).toEqual(['off', 'on', 'on']);
});

function news(changes: Partial<News>): News {
  return createNews({
    key: JSON.stringify(changes),
    category: 'filled',
    account: 'main',
    atMs: nowMs,
    headline: 'bought',
    detail: '',
    isSingle: false,
    ...changes,
  });
}

const rules = { settings, nowMs, isTold: () => false, fits: () => true };

test('what stands by itself is never left out: where it does not fit, the rest waits', () => {
  const alarms = [1, 2, 3].map((index) => [
    news({ category: 'alarm', headline: `alarm ${index}`, isSingle: true }),
  ]);
  const gathered = gather(alarms, { ...rules, fits: ({ news: told }) => told.length <= 2 });

  expect(gathered.count).toBe(2);
  expect(gathered.message?.lines).toEqual(['main · alarm 1', 'main · alarm 2']);
});

test('what is only counted waits, too, where its count does not fit beside what stands by itself', () => {
  const fills = Array.from({ length: 12 }, (_, index) => [news({ key: `fill ${index}` })]);
  const alarms = Array.from({ length: 300 }, (_, index) => [
    news({ key: `alarm ${index}`, category: 'alarm', headline: `alarm ${index}`, isSingle: true }),
  ]);
  const others = [news({ key: 'denied', account: 'other', category: 'denied' })];
  const { fits } = channels.ntfy;
  const whole = gather([...fills, ...alarms], { ...rules, fits }).count;
  const before = [...fills, ...alarms.slice(0, whole - fills.length)];

  const { message, count } = gather([...before, others], { ...rules, fits });

  expect(count).toBe(before.length);
  expect(message !== null && fits(message)).toBe(true);
});

test('a first notice is told even if it does not fit, so that it cannot block the others', () => {
  expect(gather([[news({ isSingle: true })]], { ...rules, fits: () => false })).toMatchObject({ count: 1 });
});

test('fills of more than a day ago are not told, alarms are', () => {
  const atMs = nowMs - 90_000_000;
  const gathered = gather([[news({ atMs })], [news({ atMs, category: 'alarm', isSingle: true })]], rules);
  expect(gathered).toMatchObject({ count: 2, message: { title: 'main · bought (at 2026-11-23 11:00 UTC)' } });
});

test('a message is silent only if all of it is', () => {
  const silent = news({ category: 'placed' });
  expect(gather([[silent]], rules).message?.isSilent).toBe(true);
  expect(gather([[silent], [news({})]], rules).message?.isSilent).toBe(false);
  expect(gather([[silent], [news({ account: 'quiet' })]], rules).message?.isSilent).toBe(true);
});
