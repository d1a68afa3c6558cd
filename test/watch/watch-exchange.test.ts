import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { type ExchangeWatchServices, watchExchange } from '../../lib/watch/watch-exchange.ts';
import { type Aftermath, minuteMs, noonMs, openAftermath } from '../support/aftermath.ts';
import { settingsWith } from '../support/limited-relay.ts';

/** Of the minutes of an hour: the watch looks in the first one, and uses the key only then. */
const watchedMs = noonMs - (noonMs % 3_600_000) + 11 * minuteMs;

let relay: Aftermath;

beforeEach(async () => {
  relay = await openAftermath();
  relay.clock.advance(watchedMs - noonMs);
  relay.asked.splice(0);
});
afterEach(() => relay.close());

const services = (): ExchangeWatchServices => ({ ...relay.services, settings: settingsWith({}) });
const watch = (replaced: Partial<ExchangeWatchServices> = {}) =>
  watchExchange({ ...services(), ...replaced }, relay.clock.nowMs());
const raised = () => relay.alarms.map(({ name }) => name);

describe('the watch of the exchange', () => {
  test('says nothing while all is well, and uses the key once an hour', async () => {
    for (let minute = 0; minute < 60; minute += 1) {
      await watch();
      relay.clock.advance(minuteMs);
    }

    expect(raised()).toEqual([]);
    const counts = new Map<string, number>();
    for (const path of relay.asked) counts.set(path, (counts.get(path) ?? 0) + 1);
    expect(Object.fromEntries(counts)).toEqual({
      '/api/v4/public/platform/status': 4,
      '/api/v4/public/time': 4,
      '/api/v4/main-account/balance': 1,
    });
  });

  test('asks nothing for an account that sends no orders, and nothing on the paper exchange', async () => {
    const { main } = settingsWith({}).accounts;
    if (main === undefined) throw new Error('there is no account main');
    const dry = { ...settingsWith({}), accounts: { main: { ...main, mode: 'dry-run' as const } } };

    await watch({ settings: dry });
    await watch({ isPaperExchange: true });

    expect(relay.asked).toEqual([]);
  });

  test('tells of planned maintenance, and again after six hours', async () => {
    relay.paper.control.addFault({ fault: 'maintenance', probability: 1 });

    await watch();
    relay.clock.advance(15 * minuteMs);
    await watch();
    expect(raised()).toEqual(['exchange_maintenance']);
    expect(relay.alarms[0]).toMatchObject({ account: 'main', word: 'system maintenance' });

    relay.clock.advance(6 * 60 * minuteMs);
    await watch();
    expect(raised()).toHaveLength(2);
  });

  test.each([
    [1_800, true],
    [-2_800, true],
    [500, false],
    [-1_200, false],
  ])('with a clock that is %d ms off tells it before orders are refused', async (offMs, isTold) => {
    const clock = { ...relay.clock, nowMs: () => relay.clock.nowMs() + offMs };

    await watchExchange({ ...services(), clock }, relay.clock.nowMs());

    expect(raised()).toEqual(isTold ? ['clock_off'] : []);
  });

  test('tells that the key is refused', async () => {
    const credentials = { apiKey: 'no-key-of-the-exchange', apiSecret: 'secret' };
    const stranger = createExchangeClient({
      address: relay.paper.url,
      dialect: 'live',
      credentials,
      clock: relay.clock,
      random: () => 0,
      transport: relay.transport,
    });

    await watch({ exchangeFor: async () => stranger });

    expect(raised()).toEqual(['key_refused']);
    expect(relay.alarms[0]).toMatchObject({ account: 'main', httpStatus: 401 });
  });

  test('takes what cannot be asked for no answer', async () => {
    relay.paper.control.addFault({ fault: 'garbage', probability: 1 });
    await watch();
    await watch({
      exchangeFor: async () => {
        throw new RelayError('secrets_missing', 'account main has no key');
      },
    });

    expect(raised()).toEqual([]);
  });
});
