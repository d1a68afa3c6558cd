import { formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { market as marketEndpoint } from '../../lib/exchange/endpoints/market.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { stopMarket } from '../../lib/exchange/endpoints/stop-market.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { tellChange } from '../../lib/notices/tell-change.ts';
import { type Aftermath, openAftermath } from './aftermath.ts';
import type { ManualClock } from './manual-clock.ts';

/** A relay that keeps the protection of its positions, driven by hand: alerts, the line of its market, following. */
export interface KeptRelay extends Aftermath {
  /** Sends an alert with one signal, and carries out what the relay asks for itself after it. */
  say(members: object): Promise<Entry>;
  /** Follows the orders every three seconds for so long, and carries out what that asks for. */
  goOn(seconds: number): Promise<void>;
  /** Buys or sells at market, as the owner does at the exchange. */
  byHand(side: 'buy' | 'sell', amount: string): Promise<void>;
  /** Places a stop-market order that sells and only reduces, as the owner does at the exchange. */
  stopByHand(price: string, amount: string, marks?: { readonly reduceOnly: boolean }): Promise<void>;
  /** The position: its amount, in hedge mode that of each side. */
  held(): Promise<string>;
  /** The open orders of the market: `sell 0.1 stop 48000, reduces`. */
  open(): Promise<readonly string[]>;
  /** Lets the price touch an order that rests, so that this much of it fills. */
  fill(price: string, amount: string): void;
  /** Cancels the only open order that reads so, as the owner does at the exchange. */
  cancelByHand(text: string): Promise<void>;
  /** The names of the alarms. */
  alarmNames(): readonly string[];
  /** What notices say of the relay's own signals that placed nothing, besides the alarms. */
  failuresTold(): Promise<readonly string[]>;
}

export interface KeptRelayOptions {
  /** Absent: the accounts of the test configuration. */
  readonly settings?: Settings;
  /** Absent: `BTC_USDT`, on margin. */
  readonly market?: 'BTC_USDT' | 'BTC_PERP';
  /** Called before each request goes on the wire. */
  readonly onRequest?: (path: string, clock: ManualClock) => void;
}

const tickers = { BTC_USDT: 'BTCUSDT', BTC_PERP: 'BTCUSDT.P' };

/** The price is 50000 when it opens. */
export async function openKeptRelay({
  settings,
  market = 'BTC_USDT',
  onRequest = () => undefined,
}: KeptRelayOptions = {}): Promise<KeptRelay> {
  const relay = await openAftermath('live', (clock, path) => onRequest(path, clock), undefined, settings);
  const client = await relay.services.exchangeFor('main');
  const setPrice = (price: string) => relay.paper.control.setPrice(market, parseDecimal(price));
  setPrice('50000');
  let count = 0;

  const runLine = () => relay.runLine(market);

  async function listOpen() {
    const { orders } = await listOpenOrders(client, market, {});
    return orders.map((order) => {
      const { side, remaining, price, activationPrice, reduceOnly } = order;
      const at =
        activationPrice === undefined
          ? `at ${formatDecimal(price)}`
          : `stop ${formatDecimal(activationPrice)}`;
      const only = reduceOnly === true ? ', reduces' : '';
      return { text: `${side} ${formatDecimal(remaining)} ${at}${only}`, orderId: order.orderId };
    });
  }

  return {
    ...relay,
    setPrice,
    async say(members) {
      count += 1;
      const signalId = `s${count}`;
      await relay.receiveAll(JSON.stringify({ ticker: tickers[market], id: signalId, ...members }));
      await runLine();
      return await relay.entry(signalId);
    },
    runLine,
    goOn: (seconds) => relay.goOn(seconds, market),
    async byHand(side, amount) {
      await client.call(marketEndpoint, {
        market,
        side,
        amount: parseDecimal(amount),
        clientOrderId: '',
      });
    },
    async stopByHand(price, amount, { reduceOnly } = { reduceOnly: true }) {
      await client.call(stopMarket, {
        market,
        side: 'sell',
        amount: parseDecimal(amount),
        activationPrice: parseDecimal(price),
        reduceOnly,
        clientOrderId: '',
      });
    },
    async held() {
      const { records } = await client.call(openPositions, { market });
      const sides = records
        .filter(({ amount }) => !amount.eq(zero))
        .map(({ amount, positionSide }) =>
          positionSide === 'BOTH' ? formatDecimal(amount) : `${positionSide} ${formatDecimal(amount)}`,
        );
      return sides.length === 0 ? 'flat' : sides.sort().join(', ');
    },
    open: async () => (await listOpen()).map(({ text }) => text).sort(),
    fill(price, amount) {
      relay.paper.control.setPrice(market, parseDecimal(price), parseDecimal(amount));
      setPrice(formatDecimal(parseDecimal(price).plus('100')));
    },
    async cancelByHand(wanted) {
      const found = (await listOpen()).find(({ text }) => text === wanted);
      if (found === undefined) throw new Error(`there is no order "${wanted}"`);
      await client.call(cancelOrder, { market, orderId: found.orderId });
    },
    alarmNames: () => relay.alarms.map(({ name }) => name),
    async failuresTold() {
      const { entries } = await relay.services.ledger.list({ account: 'main', limit: 200 });
      const failed = entries.filter(
        ({ signal, status }) =>
          signal?.action === 'protect' && ['rejected', 'denied', 'not_sent'].includes(status),
      );
      if (failed.length === 0) throw new Error('all of them placed something');
      return failed.flatMap((entry) => {
        const { account, signalId: id } = entry;
        const news = entry.steps.flatMap((step) =>
          tellChange({ kind: 'outcome', id, account, atMs: step.atMs, entry, step }),
        );
        return news.map(({ headline, detail }) => `${headline} ${detail}`);
      });
    },
  };
}
