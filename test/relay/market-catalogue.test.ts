import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { RelayError } from '../../lib/base/errors.ts';
import { createExchangeClient, type ExchangeClient } from '../../lib/exchange/client.ts';
import { ExchangeError } from '../../lib/exchange/errors.ts';
import type { MarketCopies, MarketsCopy } from '../../lib/ledger/market-copies.ts';
import type { Market } from '../../lib/model/market.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createMarketCatalogue } from '../../lib/relay/execute/market-catalogue.ts';
import { override } from '../support/override.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const noonMs = Date.UTC(2026, 10, 22, 12);
const timeoutMs = 5 * secondMs;

let paper: PaperExchange;
let client: ExchangeClient & { close(): void };
let nowMs: number;
const clock = { nowMs: () => nowMs, sleep: async () => undefined };

beforeEach(async () => {
  nowMs = noonMs;
  paper = await startPaperExchange({ port: 0, dialect: 'live', walk: false });
  client = createExchangeClient({ address: paper.url, dialect: 'live', credentials: null, clock });
});
afterEach(async () => {
  client.close();
  await paper.close();
});

/** How the market list responds: with the paper exchange's list, with an error, or not before the test says so. */
type Mood = 'answers' | 'fails' | 'hangs';

/** A catalogue whose market list responds as the test sets it. */
function openCatalogue(changes: { copies?: MarketCopies; traded?: readonly string[] } = {}) {
  let readings = 0;
  const warnings: string[] = [];
  const list = { mood: 'answers' as Mood };
  const end = Promise.withResolvers<'answers' | 'fails'>();
  const silence = () => undefined;
  const moody = override<ExchangeClient>(client, {
    async call(...args) {
      readings += 1;
      const mood = list.mood === 'hangs' ? await end.promise : list.mood;
      if (mood === 'fails') throw createSilence();
      return await client.call(...args);
    },
  });
  const kept = createKeptCopies();
  const catalogue = createMarketCatalogue({
    client: moody,
    clock,
    log: { info: silence, warn: (message) => warnings.push(message), error: silence },
    copies: changes.copies ?? kept,
    traded: new Set(changes.traded ?? ['BTC_USDT', 'ETH_USDT']),
    timeoutMs,
  });
  return {
    catalogue,
    list,
    warnings,
    kept,
    find: (name: string) => catalogue.find(name),
    readings: () => readings,
    async untilReading(number: number) {
      while (readings < number) await new Promise((resolve) => setImmediate(resolve));
    },
    /** Ends every reading that hangs. */
    release: end.resolve,
  };
}

function createSilence(): ExchangeError {
  const failure = { kind: 'not_sent', reason: 'no connection' } as const;
  return new ExchangeError({ name: 'markets', repeatable: true }, [{ atMs: nowMs, failure }]);
}

/** A store of copies in memory, with a record of what was saved. */
function createKeptCopies(
  first: MarketsCopy | null = null,
): MarketCopies & { readonly saved: MarketsCopy[] } {
  const saved: MarketsCopy[] = [];
  return {
    saved,
    load: async () => saved.at(-1) ?? first,
    save: async (copy) => void saved.push(copy),
  };
}

function marketNamed(name: string): Market {
  return {
    name,
    base: 'S',
    quote: 'M',
    amountStep: parseDecimal('0.001'),
    priceStep: parseDecimal('0.01'),
    minAmount: parseDecimal('0.001'),
    minTotal: parseDecimal('5'),
    maxTotal: null,
    makerFeeRate: parseDecimal('0.001'),
    takerFeeRate: parseDecimal('0.001'),
    tradesEnabled: true,
    isCollateral: true,
    isFutures: false,
  };
}

const copyOf = (readAtMs: number, ...names: readonly string[]): MarketsCopy => ({
  readAtMs,
  markets: names.map(marketNamed),
});

describe('the market catalogue', () => {
  test("returns a market's steps and fees, and null for one that is not listed", async () => {
    const { find } = openCatalogue();

    const market = await find('BTC_USDT');

    expect(market).toMatchObject({ base: 'BTC', quote: 'USDT', tradesEnabled: true, isCollateral: true });
    expect(market?.takerFeeRate.toFixed()).toBe('0.001');
    expect(await find('NO_SUCH')).toBeNull();
  });

  test('reads the list once for many signals', async () => {
    const { find, readings } = openCatalogue();

    await Promise.all(Array.from({ length: 5 }, () => find('BTC_USDT')));
    await find('ETH_USDT');

    expect(readings()).toBe(1);
  });

  test('leaves out a market whose record is invalid, and keeps the others', async () => {
    const odd = override<ExchangeClient>(client, {
      call: async (endpoint, params) => {
        const listed = await client.call(endpoint, params);
        return endpoint.result.parse([{ name: 'ODD_ONE' }, wireMarket]) as typeof listed;
      },
    });
    const silence = () => undefined;
    const catalogue = createMarketCatalogue({
      client: odd,
      clock,
      log: { info: silence, warn: silence, error: silence },
      copies: createKeptCopies(),
      traded: new Set(),
      timeoutMs,
    });

    expect(await catalogue.find('AAA_USDT')).toMatchObject({ name: 'AAA_USDT', maxTotal: null });
    expect(await catalogue.find('ODD_ONE')).toBeNull();
  });
});

describe('a copy in memory', () => {
  test('that shows a market closed is refreshed first once it is a minute old, and used while the list does not respond', async () => {
    const { markets: listed } = copyOf(noonMs - 24 * 60 * minuteMs, 'BTC_USDT');
    const closed = listed.map((market) => ({ ...market, tradesEnabled: false }));
    const copies = createKeptCopies({ readAtMs: noonMs - 24 * 60 * minuteMs, markets: closed });
    const { find, list, readings } = openCatalogue({ copies });
    list.mood = 'fails';
    expect(await find('BTC_USDT')).toMatchObject({ tradesEnabled: false });

    list.mood = 'answers';
    expect(await find('BTC_USDT')).toMatchObject({ tradesEnabled: true });
    expect(readings()).toBe(2);
  });

  test('is served at once while the list does not respond, whatever its age', async () => {
    const { find, list, readings } = openCatalogue();
    await find('BTC_USDT');
    list.mood = 'hangs';
    nowMs += 24 * 60 * minuteMs;

    expect(await find('BTC_USDT')).not.toBeNull();
    expect(await find('ETH_USDT')).not.toBeNull();
    expect(readings()).toBe(2);
  });

  test('is refreshed in the background once it is older than ten minutes', async () => {
    const { catalogue, find, readings } = openCatalogue();
    await find('BTC_USDT');

    nowMs += 10 * minuteMs;
    await find('BTC_USDT');
    expect(readings()).toBe(1);

    nowMs += 1;
    await find('BTC_USDT');
    await catalogue.settle();
    await find('BTC_USDT');
    expect(readings()).toBe(2);
  });

  test('is refreshed with growing pauses while the list fails, from 5 s to 5 min', async () => {
    const { catalogue, find, list, readings, warnings } = openCatalogue();
    await find('BTC_USDT');
    list.mood = 'fails';
    nowMs += 10 * minuteMs + 1;
    const startMs = nowMs;
    const readAfterS: number[] = [];

    for (; nowMs < startMs + 30 * minuteMs; nowMs += secondMs) {
      const before = readings();
      expect(await find('BTC_USDT')).not.toBeNull();
      await catalogue.settle();
      if (readings() > before) readAfterS.push((nowMs - startMs) / secondMs);
    }

    // Each pause is over a second after its length.
    expect(readAfterS).toEqual([0, 6, 17, 38, 79, 160, 321, 622, 923, 1224, 1525]);
    expect(warnings).toEqual(
      readAfterS.map(() => 'the market list could not be read; orders use the last copy of it'),
    );
  });

  test('is refreshed at the usual interval again after a success', async () => {
    const { catalogue, find, list, readings } = openCatalogue();
    await find('BTC_USDT');
    list.mood = 'fails';
    nowMs += 11 * minuteMs;
    await find('BTC_USDT');
    await catalogue.settle();

    list.mood = 'answers';
    nowMs += 6 * secondMs;
    await find('BTC_USDT');
    await catalogue.settle();
    nowMs += 9 * minuteMs;
    await find('BTC_USDT');

    expect(readings()).toBe(3);
  });

  test('is refreshed when its time is in the future because the clock was set back', async () => {
    const { catalogue, find, readings } = openCatalogue();
    await find('BTC_USDT');

    nowMs -= 60 * minuteMs;
    await find('BTC_USDT');
    await catalogue.settle();
    await find('BTC_USDT');

    expect(readings()).toBe(2);
  });
});

describe('a market that the copy in memory does not list', () => {
  test('counts as not listed while the copy is at most a minute old', async () => {
    const { find, list, readings } = openCatalogue();
    await find('BTC_USDT');
    list.mood = 'hangs';
    nowMs += minuteMs;

    expect(await find('NEW_USDT')).toBeNull();
    expect(readings()).toBe(1);
  });

  test('waits for one new reading when the copy is older, because it may have been listed since', async () => {
    const { find, list, readings, release } = openCatalogue();
    await find('BTC_USDT');
    list.mood = 'hangs';
    nowMs += minuteMs + 1;

    const found = [find('NEW_USDT'), find('NEWER_USDT')];
    expect(await find('BTC_USDT')).not.toBeNull();
    release('answers');

    expect(await Promise.all(found)).toEqual([null, null]);
    expect(readings()).toBe(2);
    expect(await find('NEW_USDT')).toBeNull();
    expect(readings()).toBe(2);
  });

  test('does not count as unlisted when the list cannot be read', async () => {
    const { find, list } = openCatalogue();
    await find('BTC_USDT');
    list.mood = 'fails';
    nowMs += 2 * minuteMs;

    await expect(find('NEW_USDT')).rejects.toMatchObject({ code: 'exchange_not_sent' });
    expect(await find('BTC_USDT')).not.toBeNull();
  });

  test('is read at once, even during the pause after a failed background reading', async () => {
    const { catalogue, find, list } = openCatalogue();
    await find('BTC_USDT');
    list.mood = 'fails';
    nowMs += 11 * minuteMs;
    await find('BTC_USDT');
    await catalogue.settle();
    list.mood = 'answers';

    expect(await find('NO_SUCH')).toBeNull();
  });
});

describe('after a cold start', () => {
  test('the stored copy is served while the list does not respond', async () => {
    const copies = createKeptCopies(copyOf(noonMs - 3 * 60 * minuteMs, 'BTC_USDT'));
    const { find, list, readings } = openCatalogue({ copies });
    list.mood = 'hangs';

    expect(await find('BTC_USDT')).toEqual(marketNamed('BTC_USDT'));
    expect(readings()).toBe(1);
  });

  test('a recent stored copy makes a reading unnecessary', async () => {
    const copies = createKeptCopies(copyOf(noonMs - 9 * minuteMs, 'BTC_USDT'));
    const { find, readings } = openCatalogue({ copies });

    await find('BTC_USDT');

    expect(readings()).toBe(0);
  });

  test('a stored copy does not prove that a market is not listed, however recent it is', async () => {
    const copies = createKeptCopies(copyOf(noonMs, 'BTC_USDT'));
    const { find } = openCatalogue({ copies });

    expect(await find('ETH_USDT')).toMatchObject({ base: 'ETH' });
  });

  test('without a stored copy the list is read, and its failure is reported', async () => {
    const { find, list, warnings } = openCatalogue();
    list.mood = 'fails';

    await expect(find('BTC_USDT')).rejects.toBeInstanceOf(ExchangeError);
    list.mood = 'answers';
    expect(await find('BTC_USDT')).not.toBeNull();
    expect(warnings).toEqual([]);
  });

  test('a signal whose reading fails gets the copy that was stored meanwhile', async () => {
    const { find, kept, list, release, untilReading } = openCatalogue();
    list.mood = 'hangs';
    const waiting = find('BTC_USDT');
    await untilReading(1);
    await kept.save(copyOf(noonMs, 'BTC_USDT'));

    expect(await find('BTC_USDT')).not.toBeNull();
    release('fails');

    expect(await waiting).not.toBeNull();
  });

  test('a copy that can neither be loaded nor saved causes a warning each time, and no signal fails', async () => {
    const fail = async () => {
      throw new RelayError('store_unavailable', 'the disk is full');
    };
    const { catalogue, find, warnings } = openCatalogue({ copies: { load: fail, save: fail } });

    expect(await find('BTC_USDT')).not.toBeNull();
    await catalogue.settle();
    await find('BTC_USDT');

    expect(warnings).toEqual([
      'the stored copy of the market list could not be loaded',
      'the market list could not be stored for the next start',
    ]);
  });
});

describe('the stored copy', () => {
  test('holds the traded markets, with the time when their reading started', async () => {
    const { catalogue, find, kept } = openCatalogue({ traded: ['ETH_USDT', 'NOT_LISTED'] });

    await find('BTC_USDT');
    await catalogue.settle();

    expect(kept.saved.map(({ readAtMs, markets }) => [readAtMs, markets.map(({ name }) => name)])).toEqual([
      [noonMs, ['ETH_USDT']],
    ]);
  });

  test('is written at most every ten minutes, however often the list is read', async () => {
    const { catalogue, find, kept, readings } = openCatalogue();

    for (const passedMs of [0, 2, 2, 2, 2, 3].map((minutes) => minutes * minuteMs)) {
      nowMs += passedMs;
      await find('NO_SUCH');
      await catalogue.settle();
    }

    expect(readings()).toBe(6);
    expect(kept.saved.map(({ readAtMs }) => (readAtMs - noonMs) / minuteMs)).toEqual([0, 11]);
  });

  test('is not replaced when no traded market is listed', async () => {
    const { catalogue, find, kept } = openCatalogue({ traded: ['NOT_LISTED'] });

    await find('BTC_USDT');
    await catalogue.settle();

    expect(kept.saved).toEqual([]);
  });
});

describe('a reading that was frozen together with its process', () => {
  test('counts as failed after its timeout, and the next one starts after a pause', async () => {
    const { find, list, readings, warnings } = openCatalogue();
    await find('BTC_USDT');
    list.mood = 'hangs';
    nowMs += 11 * minuteMs;
    await find('BTC_USDT');

    nowMs += 60 * minuteMs;
    expect(await find('BTC_USDT')).not.toBeNull();
    expect(readings()).toBe(2);
    nowMs += 6 * secondMs;
    expect(await find('BTC_USDT')).not.toBeNull();

    expect(readings()).toBe(3);
    expect(warnings).toHaveLength(1);
  });

  test('is not joined by a signal that needs a new one', async () => {
    const { find, list } = openCatalogue();
    await find('BTC_USDT');
    list.mood = 'hangs';
    nowMs += 11 * minuteMs;
    await find('BTC_USDT');

    nowMs += 60 * minuteMs;
    list.mood = 'answers';

    expect(await find('NO_SUCH')).toBeNull();
  });

  test('never replaces the copy of one that started later', async () => {
    const { catalogue, find, list, release, kept, untilReading } = openCatalogue();
    list.mood = 'hangs';
    const first = find('BTC_USDT');
    await untilReading(1);

    nowMs += 60 * minuteMs;
    list.mood = 'answers';
    await find('ETH_USDT');
    release('answers');
    await first;
    await catalogue.settle();

    expect(kept.saved.map(({ readAtMs }) => readAtMs)).toEqual([noonMs + 60 * minuteMs]);
  });

  test('that fails after the freeze leaves one more try to the signal that joined it', async () => {
    const { find, list, release, readings } = openCatalogue();
    await find('BTC_USDT');
    list.mood = 'hangs';
    nowMs += 11 * minuteMs;
    await find('BTC_USDT');

    const waiting = find('NO_SUCH');
    list.mood = 'answers';
    release('fails');

    expect(await waiting).toBeNull();
    expect(readings()).toBe(3);
  });
});

const wireMarket = {
  name: 'AAA_USDT',
  stock: 'AAA',
  money: 'USDT',
  stockPrec: '3',
  moneyPrec: '2',
  makerFee: '0.1',
  takerFee: '0.1',
  minAmount: '0.001',
  minTotal: '5',
  maxTotal: '0',
  tradesEnabled: true,
  isCollateral: true,
  type: 'spot',
};

describe('the catalogue of a function that is kept warm', () => {
  const forMs = 5 * minuteMs;

  test('loads the stored copy, so that no signal waits for it, and reads a newer one when that is too old', async () => {
    const copies = createKeptCopies(copyOf(noonMs - 60 * minuteMs, 'BTC_USDT'));
    const { catalogue, readings } = openCatalogue({ copies });

    await catalogue.keepFresh(forMs);

    expect(readings()).toBe(1);
    expect(copies.saved).toHaveLength(1);
    await catalogue.find('BTC_USDT');
    expect(readings()).toBe(1);
  });

  test('reads the list when a signal before the next call would find it too old, and not earlier', async () => {
    const { catalogue, readings } = openCatalogue();
    await catalogue.keepFresh(forMs);
    nowMs = noonMs + forMs;
    await catalogue.keepFresh(forMs);
    expect(readings()).toBe(1);

    nowMs = noonMs + forMs + 1;
    await catalogue.keepFresh(forMs);
    expect(readings()).toBe(2);
  });

  test('fails nothing when the list cannot be read, and does not ask again within the pause', async () => {
    const { catalogue, readings, list } = openCatalogue();
    list.mood = 'fails';
    await catalogue.keepFresh(forMs);
    await catalogue.keepFresh(forMs);
    expect(readings()).toBe(1);
  });
});
