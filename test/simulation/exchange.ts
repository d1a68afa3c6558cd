import { type Decimal, parseDecimal } from '../../lib/base/decimal.ts';
import type { WireRequest } from '../../lib/base/wire.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { PositionSide, Side } from '../../lib/model/order.ts';
import type { NewOrder } from '../../lib/paper/engine/creating.ts';
import type { ExchangeState, PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import type { ExitSettings } from '../../lib/paper/engine/exit-settings.ts';
import { openTrading } from '../../lib/paper/engine/trading.ts';
import { createPaperCore, type EncodedResponse, encodeResponse } from '../../lib/paper/server/exchange.ts';

/** The paper exchange inside the simulated world. */
export interface SimulatedExchange {
  readonly dialect: Dialect;
  /** Must only be read. */
  readonly state: ExchangeState;
  /** Serves a request that has arrived. */
  serve(request: WireRequest, atMs: number, lagMs: number): Promise<EncodedResponse>;
  /** Makes one trade at this price. @param volume what it fills of resting orders, in base units; absent: all that it reaches */
  setPrice(market: string, price: string, atMs: number, volume?: Decimal): void;
  /** From now on, the account has a long and a short position in each perpetual market. */
  hedge(account: string, atMs: number): void;
  /** How it makes the stop-losses and take-profits of entries. */
  setExits(settings: ExitSettings, atMs: number): void;
  /** What an account holds for trading on spot, in the units of the currency. */
  setSpotFunds(account: string, ticker: string, amount: string, atMs: number): void;
  /** Places an order that the relay does not know, as the owner does on the exchange's own page. */
  placeByHand(order: HandOrder, atMs: number): void;
  /** Cancels an open order, as the owner does on the exchange's own page. */
  cancelByHand(order: Pick<PaperOrder, 'account' | 'market' | 'orderId'>, atMs: number): void;
  /** Closes a position, as the button of the exchange's own page does. */
  closeByHand(position: HandClose, atMs: number): void;
}

export interface HandClose {
  readonly account: string;
  readonly market: string;
  readonly positionId: number;
}

/** A limit order, or a stop that fills at any price; amount and prices are decimals as text. */
export interface HandOrder {
  readonly account: string;
  readonly type: 'limit' | 'spot_limit' | 'spot_stop_market' | 'stop_market';
  readonly market: string;
  readonly side: Side;
  readonly amount: string;
  readonly price?: string;
  readonly activationPrice?: string;
  readonly positionSide?: PositionSide;
  readonly reduceOnly?: boolean;
  readonly clientOrderId: string;
}

export function createSimulatedExchange(dialect: Dialect): SimulatedExchange {
  const trading = openTrading(null);
  const core = createPaperCore({ dialect, trading });
  return {
    dialect,
    state: trading.state,
    async serve({ method, path, headers, body }, atMs, lagMs) {
      const response = await core.handle({
        method,
        target: path,
        headers: lowerCaseNames(headers),
        body: Buffer.from(body ?? ''),
        atMs,
        lagMs,
      });
      return encodeResponse(response);
    },
    setPrice(market, price, atMs, volume) {
      trading.execute({ kind: 'trade', atMs, market, price: parseDecimal(price), volume: volume ?? null });
    },
    hedge(account, atMs) {
      trading.execute({ kind: 'set_hedge_mode', atMs, account, isHedged: true });
    },
    setExits(change, atMs) {
      trading.execute({ kind: 'set_exits', atMs, change });
    },
    setSpotFunds(account, ticker, amount, atMs) {
      trading.execute({ kind: 'set_funds', atMs, account, of: 'spot', ticker, amount: parseDecimal(amount) });
    },
    placeByHand(order, atMs) {
      const { account, ...fields } = order;
      const asked = { ...fields, ...decimalsOf(order), stp: 'no' } as NewOrder;
      trading.execute({ kind: 'create', atMs, account, order: asked });
    },
    cancelByHand({ account, market, orderId }, atMs) {
      trading.execute({ kind: 'cancel', atMs, account, market, orderId });
    },
    closeByHand(position, atMs) {
      trading.execute({ kind: 'close_position', atMs, ...position });
    },
  };
}

function decimalsOf({ amount, price, activationPrice }: HandOrder) {
  return {
    amount: parseDecimal(amount),
    ...(price === undefined ? {} : { price: parseDecimal(price) }),
    ...(activationPrice === undefined ? {} : { activationPrice: parseDecimal(activationPrice) }),
  };
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
