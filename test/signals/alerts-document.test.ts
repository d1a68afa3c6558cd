import { describe, expect, test } from '@jest/globals';
import { one, parseDecimal } from '../../lib/base/decimal.ts';
import { type TradingGround, tradingGrounds } from '../../lib/model/account.ts';
import type { OrderSignal, Signal } from '../../lib/model/signal.ts';
import { kindNamed, orderKinds } from '../../lib/orders/order-kinds.ts';
import { endpointOfType } from '../../lib/orders/order-types.ts';
import { readProjectFile } from '../support/project-files.ts';
import { account, readAlert, refusalOf } from './reading.ts';

/** The cells of each row of the table between the two marks of that name. */
function tableOf(path: string, name: string): readonly (readonly string[])[] {
  const [, text = ''] =
    new RegExp(`<!-- ${name} -->\n([\\s\\S]*?)<!-- /${name} -->`).exec(readProjectFile(path)) ?? [];
  const lines = text.trim().split('\n').slice(2);
  return lines.map((line) => line.slice(2, -2).split(' | '));
}

function codeOf(cell: string): string {
  return cell.replace(/^`/, '').replace(/`$/, '');
}

/** The alert with the time that the document leaves out. */
function withTime(text: string): string {
  const parsed: unknown = JSON.parse(text);
  const complete = (alert: object) =>
    'timestamp' in alert ? alert : { ...alert, time: '2026-01-31T12:00:00Z' };
  return JSON.stringify(Array.isArray(parsed) ? parsed.map(complete) : complete(parsed as object));
}

const limits = { sides: ['buy', 'sell'], maxAmount: null, maxNotional: null } as const;
const tickers = { BTCUSDT: 'BTC_USDT', 'BTCUSDT.P': 'BTC_PERP' };
/** An account that may send every kind of order. */
function contextOn(tradesOn: TradingGround) {
  const markets = { BTC_USDT: { ...limits, tradesOn }, BTC_PERP: { ...limits, tradesOn } };
  return { tickers, account: { ...account, markets, allowUnguardedMarket: true } };
}

function signalsOf(text: string, ground: TradingGround): readonly Signal[] {
  return readAlert(text, contextOn(ground)).items.map(({ signal }) => signal);
}

/** What decides of a signal: all but what is only recorded. */
function withoutNotes(signal: Signal): object {
  return { ...signal, info: undefined, told: undefined, referencePrice: undefined };
}

describe('the messages of other relays', () => {
  const rows = tableOf('docs/other-relays.md', 'other-relays').map(
    ([relay = '', theirs = '', ours = '', difference = '']) => ({
      relay,
      theirs: codeOf(theirs),
      ours: codeOf(ours),
      difference,
    }),
  );
  const isTaken = ({ difference }: { readonly difference: string }) =>
    difference.startsWith('taken as it is');
  const isJson = ({ theirs }: { readonly theirs: string }) => theirs.startsWith('{');

  test('are those of seven relays', () => {
    expect([...new Set(rows.map(({ relay }) => relay))]).toEqual([
      'TradersPost',
      '3Commas',
      'WunderTrading',
      'OpenAlgo',
      'Alertatron',
      'CrossTrade',
      'OKX, BloFin',
    ]);
  });

  test.each(rows.filter(isTaken))(
    'mean the same where they are taken: $relay $theirs',
    ({ theirs, ours }) => {
      expect(signalsOf(withTime(theirs), 'futures').map(withoutNotes)).toEqual(
        signalsOf(withTime(ours), 'futures').map(withoutNotes),
      );
    },
  );

  test.each(rows.filter((row) => !isTaken(row)))('have words here: $relay $ours', ({ ours }) => {
    expect(signalsOf(withTime(ours), 'futures').length).toBeGreaterThan(0);
  });

  test.each(rows.filter((row) => !isTaken(row) && isJson(row)))(
    'are refused for what the document says: $relay $theirs',
    ({ theirs, difference }) => {
      const { code, paths } = refusalOf(theirs, contextOn('futures'));
      const named = paths.map((path) => path.replace(/\..*$/, '')).filter((path) => path !== 'time');

      expect(code).toBe('invalid_signal');
      expect(named.filter((path) => !difference.includes(`\`${path}\``))).toEqual([]);
      expect(named).not.toEqual([]);
    },
  );

  test.each(rows.filter((row) => !isJson(row)))(
    'that are no JSON are refused: $relay $theirs',
    ({ theirs }) => {
      const { code, issues } = refusalOf(theirs, contextOn('futures'));

      expect(code).toBe('invalid_json');
      expect(issues[0]?.hint).toBe(
        'commands of other services are not accepted; write the order as a JSON object with ticker, action and the rest',
      );
    },
  );
});

/** The journey through the whole relay that proves each kind. */
const journey = 'test/journeys/10-order-kinds.test.ts';
const provenBy: Readonly<Record<string, string>> = {
  'market, guarded':
    'a guarded market order fills at once within its bound, and what was read stands in the ledger first',
  'market, without a bound': 'a market order without a bound fills at once where the account allows it',
  'market, without a bound, in quote money':
    'quote money on spot without a bound goes to the endpoint that is sized in it',
  limit: 'a limit order rests at its price',
  'stop-limit': 'a stop-limit order waits for its trigger price',
  'stop-market': 'a stop-market order fills when its trigger price is reached',
};

describe('the table of order kinds', () => {
  const rows = tableOf('docs/alert-reference.md', 'kinds').map(
    ([kind = '', ground = '', alert = '', path = '']) => ({
      kind,
      ground: ground as TradingGround,
      alert: codeOf(alert),
      path: codeOf(path),
    }),
  );

  test('has every kind on every account of the exchange', () => {
    const signals = rows.map(({ alert, ground }) => signalsOf(withTime(alert), ground)[0] as OrderSignal);
    const found = signals.map(({ orderType }, index) => `${orderType} ${rows[index]?.ground}`);

    expect([...new Set(found)].toSorted()).toEqual(
      orderKinds.flatMap(({ name }) => tradingGrounds.map((ground) => `${name} ${ground}`)).toSorted(),
    );
  });

  test.each(rows)('names the endpoint: $kind on $ground, $alert', ({ kind, ground, alert, path }) => {
    const [signal] = signalsOf(withTime(alert), ground) as OrderSignal[];
    if (signal === undefined) throw new Error('expected an order');
    const guarded = kind.includes('guarded');
    const drafted = kindNamed(signal.orderType).draftOrder(signal, {
      account: {
        ...account,
        maxSlippageRate: guarded ? parseDecimal('0.01') : null,
        allowUnguardedMarket: true,
      },
      tradesOn: ground,
      oppositePrice: one,
      isQuoteSize: signal.size.unit === 'quote',
      roundPrice: (price) => price,
    });

    expect(drafted.ok && endpointOfType(drafted.draft.type).path.live).toBe(path);
  });

  test('has no kind without a journey that proves it', () => {
    expect([...new Set(rows.map(({ kind }) => kind))].toSorted()).toEqual(Object.keys(provenBy).toSorted());
  });

  test.each(Object.entries(provenBy))('has a journey for %s: %s', (_kind, title) => {
    expect(readProjectFile(journey)).toContain(`test('${title}'`);
  });
});
