import { type Decimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { cancelAll } from '../../lib/exchange/endpoints/cancel-all.ts';
import { longestLagMs } from '../../lib/exchange/lag.ts';
import { parseConfig } from '../../lib/host/config.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { kindOfType, type OrderRequest, type OrderType, type Side } from '../../lib/model/order.ts';
import { prepareOrder } from '../../lib/orders/order-types.ts';
import { paperKeysOf } from '../../lib/paper/engine/accounts.ts';
import type { OrderState, OtoState } from '../../lib/paper/server/state.ts';
import { createMovedClock } from './moved-clock.ts';
import { openWorld, type Posted, testConfig } from './world.ts';

/** What stands at the exchange when a message arrives. */
export interface Scene {
  readonly account: 'main' | 'spot';
  /** The last price of BTC_USDT. */
  readonly price: string;
  /** For example `long 0.5`, or null. */
  readonly position: string | null;
  /** Orders as {@link Sent.effects} writes them. */
  readonly rests: readonly string[];
}

/** What a message led to. */
export interface Sent {
  readonly posted: Posted;
  /** Outcomes of the signals, in their order; empty for a refused message. */
  readonly outcomes: readonly string[];
  /** What was cancelled and which orders arrived at the exchange, in words. */
  readonly effects: readonly string[];
  /** The same with what each order is worth at most, in whole units of the quote currency, in place of its amount. */
  readonly worths: readonly string[];
}

/** A local relay and its paper exchange for many messages, each of which finds a scene of its own. */
export interface MessageWorld {
  /** @param compose makes the message when everything is as the scene says */
  send(scene: Scene, compose: (nowMs: number) => string): Promise<Sent>;
  close(): Promise<void>;
}

const { settings } = parseConfig({
  ...testConfig,
  tickers: { BTCUSDT: 'BTC_USDT', ETHUSDT: 'ETH_USDT' },
  maxLagSeconds: 300,
  accounts: {
    main: {
      mode: 'live',
      maxSlippage: '0.5%',
      allowUnguardedMarket: true,
      maxOrdersPerMinute: 1_000,
      maxSignalsPerMinute: 1_000,
      markets: { BTC_USDT: { tradesOn: 'margin' }, ETH_USDT: { tradesOn: 'margin' } },
    },
    spot: {
      mode: 'live',
      maxSlippage: '0.5%',
      maxOrdersPerMinute: 1_000,
      maxSignalsPerMinute: 1_000,
      markets: { BTC_USDT: { tradesOn: 'spot' } },
    },
  },
});

/** Shares of the equity are easy to check: it is a million USDT, and a position of five times as much can be held. */
const equity = { main: 'main', spot: 'second' } as const;
const leverage = 5;

export async function openMessageWorld(): Promise<MessageWorld> {
  const clock = createMovedClock();
  const world = await openWorld({ dialect: 'live', settings, clock });
  const { control } = world.paper;
  control.setLeverage('main', leverage);
  const owner = createExchangeClient({
    address: world.paper.url,
    dialect: 'live',
    credentials: paperKeysOf('main'),
    clock,
  });
  let placed = 0;

  const orders = () => control.state().orders;
  const ordersOf = (account: Scene['account']) =>
    orders().filter((order) => order.account === equity[account]);

  /** As the owner does it by hand. */
  async function place(text: string): Promise<number> {
    placed += 1;
    await prepareOrder(owner, { ...readOrder(text), clientOrderId: `owner-${placed}` }).send();
    return orders().at(-1)?.orderId ?? 0;
  }

  /** Buys or sells at the last price, whatever the book has. */
  async function trade(side: Side, amount: string, price: string): Promise<void> {
    await place(`limit ${side} ${amount} at ${price}`);
    world.setPrice('BTC_USDT', price);
  }

  async function clear(): Promise<void> {
    await owner.call(cancelAll, { market: 'BTC_USDT' });
    await owner.call(cancelAll, { market: 'ETH_USDT' });
    const { positions = {} } = control.state().accounts['main'] ?? {};
    for (const [market, { amount }] of Object.entries(positions)) {
      const size = parseDecimal(amount);
      const price = control.state().prices[market] ?? '';
      const side = size.lt(zero) ? 'buy' : 'sell';
      placed += 1;
      const order = { market, side, amount: size.abs(), price: parseDecimal(price) } as const;
      await prepareOrder(owner, { ...order, type: 'limit', clientOrderId: `owner-${placed}` }).send();
      world.setPrice(market, price);
    }
    for (const [account, of] of [
      ['main', 'collateral'],
      ['second', 'spot'],
    ] as const) {
      control.setFunds(account, of, 'USDT', parseDecimal('1000000'));
      control.setFunds(account, of, 'BTC', parseDecimal(account === 'second' ? '10' : '0'));
      control.setFunds(account, of, 'ETH', parseDecimal('0'));
      control.setFunds(account, of, 'SOL', parseDecimal('0'));
    }
    // What the relay remembers of its own orders is older than any list.
    clock.advance(longestLagMs + 1);
  }

  return {
    async send({ account, price, position, rests }, compose) {
      await clear();
      world.setPrice('BTC_USDT', price);
      if (position !== null) {
        const [side = '', amount = ''] = position.split(' ');
        await trade(side === 'long' ? 'buy' : 'sell', amount, price);
      }
      const resting = new Map<number, string>();
      for (const text of rests) resting.set(await place(text), text);
      clock.advance(longestLagMs + 1);
      const lastOrderId = Math.max(0, ...orders().map(({ orderId }) => orderId));

      const posted = await world.post(compose(clock.nowMs()), { account });
      const { signals = [posted.body] } = posted.body;
      const outcomes: string[] = [];
      const trails = new Map<string | null, string | undefined>();
      for (const { signalId } of posted.status === 202 ? signals : []) {
        const entry = await world.settled(signalId ?? '', account);
        outcomes.push(entry.status);
        await world.settledBelow(`${entry.signalId}:target`, partsOf(entry), account);
        trails.set(entry.clientOrderId, trailingOf(entry));
      }
      const after = ordersOf(account);
      const cancelled = after
        .filter(({ orderId, status }) => resting.has(orderId) && status === 'cancelled')
        .map(({ orderId }) => `cancels ${resting.get(orderId)}`);
      const arrived = after
        .filter(({ orderId, clientOrderId }) => orderId > lastOrderId && clientOrderId !== '')
        .map(
          (order) => [order, control.state().otos.find(({ orderId }) => orderId === order.orderId)] as const,
        );
      return {
        posted,
        outcomes,
        effects: [
          ...cancelled,
          ...arrived.map(([order, exits]) =>
            describeOrder(order, order.amount, exits, trails.get(order.clientOrderId)),
          ),
        ],
        worths: [
          ...cancelled,
          ...arrived.map(([order, exits]) => describeOrder(order, `worth ${worthOf(order)}`, exits)),
        ],
      };
    },
    async close() {
      owner.close();
      await world.close();
    },
  };
}

function trailingOf({ signal }: Entry): string | undefined {
  return signal !== null && 'trailing' in signal ? signal.trailing : undefined;
}

/** How many take-profits the relay places itself. */
function partsOf({ signal, status }: Entry): number {
  return status === 'placed' && signal !== null && 'takeProfits' in signal
    ? (signal.takeProfits?.length ?? 0)
    : 0;
}

/**
 * An order in words, for example `limit buy 0.01 at 50000, reduce-only, stop-loss 49000`.
 *
 * @param trailing how far behind the best price the relay is to keep its stop-loss
 */
function describeOrder(
  order: OrderState,
  size: string,
  exits: OtoState | undefined,
  trailing?: string,
): string {
  const { side, price, activationPrice, postOnly, reduceOnly, market } = order;
  const kind = kindOfType[order.type];
  // The relay sends a market order within its bound as a limit order that only takes.
  const isGuarded = kind === 'limit' && order.ioc;
  const parts = [
    `${isGuarded ? 'market' : kind.replace('_', '-')} ${side} ${size}`,
    ...(market === 'BTC_USDT' ? [] : [market]),
    ...(price === null || isGuarded ? [] : [`at ${price}`]),
  ];
  return [
    parts.join(' '),
    ...(activationPrice === null ? [] : [`trigger ${activationPrice}`]),
    ...(postOnly ? ['post-only'] : []),
    ...(reduceOnly ? ['reduce-only'] : []),
    ...(exits?.stopLoss == null ? [] : [`stop-loss ${exits.stopLoss}`]),
    ...(exits?.takeProfit == null ? [] : [`take-profit ${exits.takeProfit}`]),
    ...(trailing === undefined ? [] : [`trailing ${trailing}`]),
  ].join(', ');
}

function worthOf({ amount, price }: OrderState): string {
  return price === null ? amount : String(Math.round(Number(amount) * Number(price)));
}

/** The order that such words mean. @throws RangeError for other words */
function readOrder(text: string): Omit<OrderRequest, 'clientOrderId'> {
  const found = /^(limit|stop-limit) (buy|sell) (\S+) at ([^\s,]+)(?:, trigger (\S+))?$/.exec(text);
  if (found === null) throw new RangeError(`not an order to place by hand: ${text}`);
  const [, kind = '', side = '', amount = '', price = '', trigger] = found;
  const activationPrice: Decimal | undefined = trigger === undefined ? undefined : parseDecimal(trigger);
  return {
    type: kind.replace('-', '_') as OrderType,
    market: 'BTC_USDT',
    side: side as Side,
    amount: parseDecimal(amount),
    price: parseDecimal(price),
    ...(activationPrice === undefined ? {} : { activationPrice }),
  };
}
