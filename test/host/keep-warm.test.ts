import { beforeEach, describe, expect, test } from '@jest/globals';
import { createAwsSecrets } from '../../lib/host/aws-secrets.ts';
import { keepingWarm } from '../../lib/host/keep-warm.ts';
import { createStartWatch, type StartWatch } from '../../lib/host/start-watch.ts';
import { createListeningLog, type ListeningLog } from '../support/listening-log.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';

const minuteMs = 60_000;
const warmCall = { keepWarm: true } as const;
const alert = { httpMethod: 'POST' };

let clock: ManualClock;
let log: ListeningLog;
let start: StartWatch;
let handled: { readonly event: object; readonly isCold: boolean }[];

beforeEach(() => {
  clock = createManualClock(Date.UTC(2026, 10, 22, 12), { jumps: false });
  log = createListeningLog();
  start = createStartWatch();
  handled = [];
});

function open(prepare: () => Promise<unknown>) {
  return keepingWarm({ clock, log: log.log, start }, prepare, async (event: object) => {
    handled.push({ event, isCold: start.isCold });
    return 'handled';
  });
}

describe('A function that is kept warm', () => {
  test('reads what an alert needs when its schedule calls, and handles nothing', async () => {
    let readings = 0;
    const handler = open(async () => {
      readings += 1;
    });

    expect(await handler(warmCall)).toBeNull();

    expect(readings).toBe(1);
    expect(handled).toEqual([]);
    expect(log.lines).toEqual([]);
  });

  test.each([
    { httpMethod: 'POST', keepWarm: true },
    { Records: [], keepWarm: true },
    { keepWarm: 'true' },
    {},
  ])('takes %j for no such call', async (event) => {
    const handler = open(async () => {
      throw new Error('nothing is to be read');
    });

    expect(await handler(event)).toBe('handled');
  });

  test('does not fail when nothing can be read: a failure would be taken for that of an alert', async () => {
    const handler = open(async () => {
      throw new Error('no connection');
    });

    expect(await handler(warmCall)).toBeNull();
    expect(log.lines).toMatchObject([{ level: 'warn' }]);
    expect(await handler(alert)).toBe('handled');
  });

  test('is free for an alert after two seconds, however long a reading takes', async () => {
    const handler = open(() => new Promise(() => undefined));

    const called = handler(warmCall);
    await clock.whenAsleep();
    clock.advance(2_000);

    expect(await called).toBeNull();
  });

  test('tells an alert that came first from one that came after a call of the schedule, or after another alert', async () => {
    const cold = open(async () => undefined);
    await cold(alert);
    await cold(alert);
    start = createStartWatch();
    const warm = open(async () => undefined);
    await warm(warmCall);
    await warm(alert);

    expect(handled.map(({ isCold }) => isCold)).toEqual([true, false, false]);
  });
});

describe('The secrets of a function', () => {
  const accounts = ['main', 'second'];
  let requests: number;

  function openSecrets() {
    requests = 0;
    const ids = { main: 'id-of-main', second: 'id-of-second' };
    return createAwsSecrets({
      clock,
      webhookTokens: ids,
      exchangeKeys: {},
      client: {
        call: async () => {
          requests += 1;
          return { SecretString: JSON.stringify({ current: 'a-token-0123456789', previous: null }) };
        },
      },
    });
  }

  /** What an alert reads of them. */
  async function countForAlert(secrets: ReturnType<typeof openSecrets>): Promise<number> {
    const before = requests;
    await secrets.webhookTokens('main');
    await secrets.heldSecrets();
    return requests - before;
  }

  test('are not asked for by the first alert after an idle hour, even when the next call is as late as it may be', async () => {
    const secrets = openSecrets();
    const handler = open(() =>
      Promise.all(accounts.map((account) => secrets.webhookTokens(account, 'newest'))),
    );
    for (let minute = 0; minute <= 60; minute += 3) {
      await handler(warmCall);
      clock.advance(3 * minuteMs);
    }
    clock.advance(2 * minuteMs - 1);

    expect(await countForAlert(secrets)).toBe(0);
  });

  test('are asked for by it when nothing keeps the function warm', async () => {
    const secrets = openSecrets();
    await countForAlert(secrets);
    clock.advance(60 * minuteMs);

    expect(await countForAlert(secrets)).toBe(2);
  });
});
