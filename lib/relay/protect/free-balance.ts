import { listRecent } from '../../account/read-position.ts';
import { type Decimal, zero } from '../../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { listOpenOrders } from '../../exchange/list-open-orders.ts';
import type { Account } from '../../model/account.ts';
import type { OrderSignal } from '../../model/signal.ts';
import { type HoldingStop, holdingStops } from '../../protection/guards.ts';
import type { Outcome, PreparedAction } from '../execute/action.ts';
import type { ExecuteServices } from '../services.ts';
import { cancelReplaced, withReplaced } from './replace-exits.ts';
import { noteTaken, readTaken } from './taken-stops.ts';

/**
 * The relay's own stop-losses that hold a part of the balance which a spot sale sells, the oldest first. Without any, nothing
 * is asked of the exchange.
 *
 * @throws ExchangeError when the open orders cannot be read; RelayError `store_unavailable`
 */
export async function readHoldingStops(
  services: ExecuteServices,
  { name, protection, markets }: Account,
  client: ExchangeClient,
  { market, side }: OrderSignal,
  limits: SendOptions,
): Promise<readonly HoldingStop[]> {
  const isSpotSale = side === 'sell' && markets[market]?.tradesOn === 'spot';
  if (!isSpotSale || protection !== 'keep' || client.dialect !== 'live') return [];
  const recent = await listRecent(services, name, market);
  const entries = recent.entries.filter(({ signal }) => signal?.market === market);
  const taken = await readTaken(services.facts, name, market);
  // As the ledger knows them: those that are not listed yet count with what was sent.
  if (!entries.some(({ signal, status }) => signal?.action === 'protect' && status === 'placed')) return [];
  const { orders } = await listOpenOrders(client, market, limits);
  return holdingStops({ entries, open: orders, taken });
}

/** The sum of what these hold, in base units. */
export function heldBy(stops: readonly HoldingStop[]): Decimal {
  return stops.reduce((sum, { amount }) => sum.plus(amount), zero);
}

/**
 * Those that must be cancelled before a sale, the oldest first; none when it can be sent beside them, and when all of them
 * together would not do.
 *
 * @param free what no order holds, in base units
 */
export function stopsToFree(
  amount: Decimal,
  free: Decimal,
  stops: readonly HoldingStop[],
): readonly HoldingStop[] {
  let missing = amount.minus(free);
  if (heldBy(stops).lt(missing)) return [];
  return stops.filter((stop) => {
    if (!missing.gt(zero)) return false;
    missing = missing.minus(stop.amount);
    return true;
  });
}

/** The sale, with the cancellation of the stop-losses that hold what it sells. What is left is protected anew after it. */
export function withStopsFreed(
  services: ExecuteServices,
  client: ExchangeClient,
  { account, market }: { readonly account: string; readonly market: string },
  stops: readonly HoldingStop[],
  action: PreparedAction,
): PreparedAction {
  if (stops.length === 0) return action;
  const cancels = stops.map(({ orderId }) => orderId);
  const names = stops.map(({ of, orderId }) => `order ${orderId} of "${of}"`).join(', ');
  const told = `what it sells is held by the stop-loss ${names}, which is cancelled first`;
  return {
    ...action,
    requests: [...cancels.map((orderId) => ({ cancel: orderId })), ...action.requests],
    note: action.note === undefined ? told : `${told}; ${action.note}`,
    async send(options) {
      await noteTaken(services.facts, account, market, cancels);
      const done = await cancelReplaced(services, client, { market, cancels }, options);
      return withReplaced(done.areCancelled ? await action.send(options) : endedMeanwhile, done);
    },
  };
}

const endedMeanwhile: Outcome = {
  status: 'not_sent',
  note: 'nothing was sold: a stop-loss that held what it sells had ended meanwhile, and may have sold it, or may still be open',
  evidence: null,
};
