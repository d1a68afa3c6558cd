import { type Decimal, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { createRandom, type Random } from '../../lib/base/random.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import { parseConfig } from '../../lib/host/config.ts';
import type { TradingGround } from '../../lib/model/account.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import { testConfig } from '../support/world.ts';
import { openAftermath } from './aftermath.ts';

/** Where a strategy trades. */
export interface StrategyGround {
  readonly tradesOn: TradingGround;
  readonly market: keyof typeof tickers;
}

/** What TradingView fills in for one order of a strategy. */
export interface StrategyOrder {
  readonly action: 'buy' | 'sell';
  /** In base units. */
  readonly contracts: Decimal;
  /** The price that the order, or the plot of the script, has; absent: the last price. */
  readonly price?: Decimal;
}

/** What is open at the exchange. */
export interface Standing {
  /** Signed, in base units; on spot, what is held. */
  readonly held: string;
  /** `sell 0.1 stop 48000`, sorted. */
  readonly orders: readonly string[];
  /** The sums of what stop-losses and other orders against the position would close. */
  readonly stops: string;
  readonly targets: string;
}

/** A relay and a paper exchange on which the messages of one strategy arrive, one after the other. */
export interface StrategyRun {
  readonly random: Random;
  /** The last price. */
  readonly price: Decimal;
  /** What the strategy holds once all that it has ordered is filled, signed, in base units. */
  readonly wanted: Decimal;
  /** How many alerts were sent. To an id of a message it is added. */
  readonly sent: number;
  /** Fills in and sends a message, for an order after which the strategy holds so much. */
  send(text: string, order: StrategyOrder, wanted: Decimal): Promise<void>;
  /** An exit of the exchange has closed this much of what the strategy holds. */
  exited(wanted: Decimal): void;
  /** Moves the price, and follows the orders. */
  moveTo(price: Decimal): Promise<void>;
  /** Moves the price to a part of itself. */
  move(rate: string): Promise<void>;
  standing(): Promise<Standing>;
  /** The names of the alarms. */
  alarmNames(): readonly string[];
  close(): Promise<void>;
}

const tickers = { BTC_USDT: 'BTCUSDT', BTC_PERP: 'BTCUSDT.P', ETH_USDT: 'ETHUSDT', SOL_USDT: 'SOLUSDT' };
const account = {
  mode: 'live',
  limitOffset: '0.1%',
  maxSlippage: '0.5%',
  defaultOrderType: 'market',
} as const;

/** The price is the one at which the paper exchange starts, and nothing is held, when it opens. */
export async function openStrategyRun(
  { tradesOn, market }: StrategyGround,
  seed: number,
): Promise<StrategyRun> {
  const main = { ...account, markets: { [market]: { tradesOn } } };
  const { settings } = parseConfig({ ...testConfig, accounts: { main } });
  const relay = await openAftermath('live', undefined, undefined, settings);
  const client = await relay.services.exchangeFor('main');
  let price = marketNamed(market).startPrice;
  let wanted = zero;
  let sent = 0;
  relay.paper.control.setPrice(market, price);
  relay.paper.control.setFunds('main', 'spot', 'BTC', zero);
  // Little enough for the order book.
  relay.paper.control.setFunds('main', 'spot', 'USDT', parseDecimal('10000'));
  relay.paper.control.setFunds('main', 'collateral', 'USDT', parseDecimal('100000'));

  const runLine = () => relay.runLine(market);
  const goOn = (seconds: number) => relay.goOn(seconds, market);

  async function readHeld(): Promise<Decimal> {
    if (tradesOn === 'spot') {
      const { BTC } = await client.call(tradeBalance, {});
      return BTC === undefined ? zero : BTC.available.plus(BTC.freeze);
    }
    const { records } = await client.call(openPositions, { market });
    return records.reduce((sum, { amount }) => sum.plus(amount), zero);
  }

  function fillIn(text: string, order: StrategyOrder): string {
    const size = wanted.abs();
    const values: Readonly<Record<string, string>> = {
      ticker: tickers[market],
      timenow: new Date(relay.clock.nowMs()).toISOString().replace(/\.\d{3}Z$/, 'Z'),
      'strategy.order.action': order.action,
      'strategy.order.contracts': formatDecimal(order.contracts),
      'strategy.order.price': formatDecimal(order.price ?? price),
      'strategy.order.id': `Order ${sent}`,
      'strategy.market_position': size.eq(zero) ? 'flat' : wanted.gt(zero) ? 'long' : 'short',
      'strategy.market_position_size': formatDecimal(size),
      plot_0: formatDecimal(order.price ?? price),
    };
    return text
      .replaceAll(/\{\{(.+?)\}\}/g, (placeholder, name) => values[name] ?? placeholder)
      .replaceAll(/"id": "(.+?)"/g, (_, id) => `"id": "${id}-${sent}"`);
  }

  async function send(text: string, order: StrategyOrder, next: Decimal): Promise<void> {
    wanted = next;
    sent += 1;
    const before = relay.alarms.length;
    await relay.receiveAll(fillIn(text, order));
    await runLine();
    await goOn(24);
    if (relay.alarms.length > before)
      throw new Error(`alarms: ${JSON.stringify(relay.alarms.slice(before))}`);
  }

  async function moveTo(next: Decimal): Promise<void> {
    price = next;
    relay.paper.control.setPrice(market, price);
    await goOn(36);
  }

  return {
    random: createRandom(seed),
    get price() {
      return price;
    },
    get wanted() {
      return wanted;
    },
    get sent() {
      return sent;
    },
    send,
    exited(next) {
      wanted = next;
    },
    moveTo,
    move: (rate) => moveTo(price.times(rate).round(0)),
    async standing() {
      const held = await readHeld();
      const { orders } = await listOpenOrders(client, market, {});
      const closing = orders.filter(({ side }) => (side === 'sell') === held.gt(zero));
      const sumOf = (areStops: boolean) =>
        closing
          .filter(({ activationPrice }) => (activationPrice !== undefined) === areStops)
          .reduce((sum, { remaining }) => sum.plus(remaining), zero);
      return {
        held: formatDecimal(held),
        orders: orders
          .map(({ side, remaining, price: limit, activationPrice }) =>
            activationPrice === undefined
              ? `${side} ${formatDecimal(remaining)} at ${formatDecimal(limit)}`
              : `${side} ${formatDecimal(remaining)} stop ${formatDecimal(activationPrice)}`,
          )
          .sort(),
        stops: formatDecimal(sumOf(true)),
        targets: formatDecimal(sumOf(false)),
      };
    },
    alarmNames: () => relay.alarms.map(({ name }) => name),
    close: () => relay.close(),
  };
}
