import { type Decimal, parseDecimal } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { orderSignalOf } from '../../lib/ledger/sent-order.ts';
import type { Account, MarketLimits } from '../../lib/model/account.ts';
import { type OrderType, orderTypes } from '../../lib/model/order.ts';
import { type OrderSignal, placesOrder } from '../../lib/model/signal.ts';
import { endpointOfType } from '../../lib/orders/order-types.ts';
import { marketNamed, type PaperMarket } from '../../lib/paper/engine/markets.ts';
import { isCreate, keyText, type WireSend } from './history.ts';
import type { Facts } from './invariants.ts';

/** A create that went on the wire, as its body says it, and the signal that it was sent for. */
export interface SentOrder {
  readonly send: WireSend;
  readonly entry: Entry;
  readonly signal: OrderSignal;
  readonly account: Account;
  readonly limits: MarketLimits;
  readonly market: PaperMarket;
  readonly type: OrderType;
  readonly side: 'buy' | 'sell';
  /** In the units of the endpoint. */
  readonly amount: Decimal;
  readonly price: Decimal | null;
  readonly stopPrice: Decimal | null;
  readonly reduceOnly: boolean;
}

interface CreateBody {
  readonly market: string;
  readonly side: 'buy' | 'sell';
  readonly amount: string;
  readonly price?: string;
  readonly activation_price?: string;
  readonly reduceOnly?: boolean;
}

const typesByPath = new Map(
  orderTypes.flatMap((type) =>
    Object.values(endpointOfType(type).path).map((path): [string, OrderType] => [path, type]),
  ),
);

/** Every create of a run that was sent for an order of the ledger, oldest first. */
export function listSentOrders({
  history,
  entries,
  settings,
}: Pick<Facts, 'history' | 'entries' | 'settings'>): readonly SentOrder[] {
  const byKey = new Map(entries.map((entry) => [keyText(entry), entry]));
  return history.sends
    .filter(({ path }) => isCreate(path))
    .flatMap((send) => {
      const entry = send.key === null ? undefined : byKey.get(keyText(send.key));
      return entry === undefined ? [] : (readSent(send, entry, settings.accounts[entry.account]) ?? []);
    });
}

function readSent(send: WireSend, entry: Entry, account: Account | undefined): SentOrder | null {
  const body: CreateBody = JSON.parse(send.body);
  const signal = askedOrder(entry, body);
  const limits = account?.markets[body.market];
  const type = typesByPath.get(send.path);
  if (signal === null || account === undefined || limits === undefined || type === undefined) return null;
  const { side, amount, price, activation_price: stopPrice, reduceOnly = false } = body;
  return {
    send,
    entry,
    signal,
    account,
    limits,
    market: marketNamed(body.market),
    type,
    side,
    amount: parseDecimal(amount),
    price: price === undefined ? null : parseDecimal(price),
    stopPrice: stopPrice === undefined ? null : parseDecimal(stopPrice),
    reduceOnly,
  };
}

/** The order that the signal asks for; that of a position action is the market order which was sent for it. */
function askedOrder(entry: Entry, body: CreateBody): OrderSignal | null {
  const { signal } = entry;
  if (signal === null || !placesOrder(signal)) return null;
  if (signal.action === 'protect') return orderSignalOf(entry);
  if (signal.action === 'order') return signal;
  const { ticker, market, timeMs, maxLagMs, maxSlippage } = signal;
  const size = { unit: 'base', quantity: body.amount } as const;
  const order = { action: 'order', orderType: 'market', side: body.side, size } as const;
  const bound = maxSlippage === undefined ? {} : { maxSlippage };
  const flag = body.reduceOnly === undefined ? {} : { reduceOnly: body.reduceOnly };
  return { ticker, market, timeMs, maxLagMs, ...order, ...bound, ...flag };
}

/** For a violation: `main s3 (market, buy 0.002 BTC_USDT)`. */
export function describeSent({ entry, signal, side, amount, market }: SentOrder): string {
  return `${keyText(entry)} (${signal.orderType}, ${side} ${amount.toFixed()} ${market.name})`;
}
