import { describe, expect, test } from '@jest/globals';
import { checkQueue, checkSubscribers } from '../../cli/check.ts';
import { judgeClock } from '../../cli/exchange-checks.ts';
import { judgeAllowlist } from '../../cli/stack-checks.ts';

describe('the clock', () => {
  test.each([
    [0, 'ok', "this machine's agrees with the exchange's"],
    [-1000, 'ok', "this machine's agrees with the exchange's"],
    [1600, 'warn', "this machine's is 1.6 s ahead of the exchange's"],
    [-3900, 'warn', "this machine's is 3.9 s behind the exchange's"],
    [4000, 'fail', "this machine's is 4.0 s ahead of the exchange's"],
    [-60_000, 'fail', "this machine's is 60.0 s behind the exchange's"],
  ])('%i ms ahead is judged %s', (offsetMs, verdict, found) => {
    expect(judgeClock(offsetMs)).toMatchObject({ name: 'clock', verdict, found });
  });
});

describe('the queue', () => {
  test.each([
    [{ waiting: 0, deadLetters: 0, oldestAgeMs: null }, ['ok', 'ok'], '0 waiting'],
    [{ waiting: 7, deadLetters: 0, oldestAgeMs: null }, ['ok', 'ok'], '7 waiting'],
    [{ waiting: 2, deadLetters: 0, oldestAgeMs: 59_000 }, ['ok', 'ok'], '2 waiting, the oldest for 59 s'],
    [{ waiting: 2, deadLetters: 0, oldestAgeMs: 60_000 }, ['warn', 'ok'], '2 waiting, the oldest for 60 s'],
    [
      { waiting: 2, deadLetters: 3, oldestAgeMs: 300_000 },
      ['fail', 'fail'],
      '2 waiting, the oldest for 300 s',
    ],
  ])('with %j is judged %j', (queue, verdicts, found) => {
    const checks = checkQueue(queue);

    expect(checks.map(({ verdict }) => verdict)).toEqual(verdicts);
    expect(checks[0]?.found).toBe(found);
    expect(checks.filter(({ verdict, advice }) => (verdict === 'ok') !== (advice === null))).toEqual([]);
  });
});

describe('alarm mail', () => {
  const topic = 'arn:aws:sns:eu-central-1:111122223333:alarms';
  const owner = 'owner@relay.example';
  const waiting = { endpoint: owner, isConfirmed: false };
  const confirmed = { endpoint: 'other@relay.example', isConfirmed: true };

  test.each([
    [owner, [waiting, confirmed], 'ok', 'goes to other@relay.example', null],
    [
      owner,
      [waiting],
      'fail',
      'NOBODY is told of alarms: owner@relay.example did not confirm',
      'Follow the link in the mail that AWS sent there; it holds for two days.',
    ],
    [
      owner,
      [],
      'fail',
      'NOBODY is told of alarms: owner@relay.example is no longer subscribed',
      'Subscribe it again: aws sns subscribe --protocol email --notification-endpoint owner@relay.example --topic-arn arn:aws:sns:eu-central-1:111122223333:alarms',
    ],
    [null, [confirmed], 'ok', 'goes to other@relay.example', null],
    [null, [], 'warn', 'NOBODY is told of alarms', 'Set aws.alarmEmail in relay.config.ts and deploy.'],
  ] as const)('meant for %s, with %j, is judged %s: %s', (email, subscriptions, verdict, found, advice) => {
    expect(checkSubscribers({ topic, email, subscriptions })).toEqual({
      name: 'alarm mail',
      verdict,
      found,
      advice,
    });
  });
});

describe('the allowed addresses', () => {
  const expected = ['52.89.214.238', '34.212.75.30', '54.218.53.128', '52.32.178.7', '203.0.113.0/24'];
  const policyWith = (addresses: string | readonly string[]) =>
    JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Condition: { IpAddress: { 'aws:SourceIp': addresses } } }],
    });

  test('pass when they are those expected, in any order', () => {
    expect(judgeAllowlist(policyWith(expected.toReversed()), expected)).toEqual({
      name: 'allowed addresses',
      verdict: 'ok',
      found: "TradingView's and 1 more",
      advice: null,
    });
  });

  test('are read with their quotes escaped too, as the service tells them', () => {
    const escaped = policyWith(expected).replaceAll('"', '\\"').replaceAll('/', '\\/');

    expect(judgeAllowlist(escaped, expected).verdict).toBe('ok');
  });

  test('fail when one is missing, and when one is too many', () => {
    const changed = [...expected.slice(1), '0.0.0.0/0'];

    expect(judgeAllowlist(policyWith(changed), expected)).toMatchObject({
      verdict: 'fail',
      found: '52.89.214.238 cannot call; 0.0.0.0/0 can call and should not',
    });
  });

  test('fail when a statement lets in anybody', () => {
    const open = JSON.stringify({
      Statement: [JSON.parse(policyWith(expected)).Statement[0], { Effect: 'Allow', Principal: '*' }],
    });

    for (const policy of [open, '', 'null', policyWith('0.0.0.0/0')])
      expect(judgeAllowlist(policy, expected).verdict).toBe('fail');
  });
});
