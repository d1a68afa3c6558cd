import { cancelAll } from '../../exchange/endpoints/cancel-all.ts';
import { cancelConditional } from '../../exchange/endpoints/cancel-conditional.ts';
import { type TradingGround, tradingGrounds } from '../../model/account.ts';
import { type PositionSide, positionSides } from '../../model/order.ts';
import type { Command } from '../engine/engine.ts';
import { collateralAccountOf } from '../engine/exchange-state.ts';
import { leverages } from '../engine/positions.ts';
import type { RefusalName } from '../engine/refusals.ts';
import {
  createReadRoute,
  createTradeRoute,
  type Reply,
  type RequestContext,
  type Route,
  refuse,
  serveChecked,
  succeed,
} from '../requests/request-context.ts';
import { commandEndpoint, readingEndpoint } from '../requests/served-endpoint.ts';
import { type Checked, checkNamedMarket, type FieldReader, failCheck } from '../requests/validation.ts';

/**
 * The commands of the live service that change an account or end several orders.
 *
 * @see https://docs.whitebit.com/api-reference/collateral-trading/overview
 */
export const accountCommands: readonly Route[] = [
  createTradeRoute(cancelAll, serveCancelAll),
  createTradeRoute(cancelConditional, (context) =>
    serveCancelConditional(context, 'id', 'conditional_id_not_integer', 'conditional_not_found'),
  ),
  createTradeRoute(commandEndpoint('cancel-oto', '/v4/order/oto-cancel', 10_000), (context) =>
    serveCancelConditional(context, 'otoId', 'oto_id_not_integer', 'oto_not_found'),
  ),
  createTradeRoute(
    commandEndpoint('close-position', '/v4/collateral-account/position/close', 10_000),
    serveClosePosition,
  ),
  createTradeRoute(commandEndpoint('leverage', '/v4/collateral-account/leverage', 1000), serveLeverage),
  createTradeRoute(
    commandEndpoint('set-hedge-mode', '/v4/collateral-account/hedge-mode/update', 1000),
    serveSetHedgeMode,
  ),
  createReadRoute(
    { ...readingEndpoint('hedge-mode', '/v4/collateral-account/hedge-mode'), requestsPer10s: 1000 },
    ({ account, trading }) => succeed({ hedgeMode: collateralAccountOf(trading.state, account).isHedged }),
  ),
];

/** @param refusal takes the place of the command's own */
function execute(context: RequestContext, command: Command, result: unknown, refusal?: RefusalName): Reply {
  const done = context.trading.execute(command);
  if (done.result.result === 'refused') return refuse(refusal ?? done.result.refusal);
  return { ok: true, result, stored: done.stored };
}

function serveCancelAll(context: RequestContext): Reply {
  const { account, atMs, read } = context;
  return serveChecked(checkCancelAll(read), (scope) =>
    execute(context, { kind: 'cancel_all', account, atMs, ...scope }, []),
  );
}

interface CancelScope {
  readonly market: string | null;
  readonly types: readonly TradingGround[];
  readonly positionSide: PositionSide | null;
}

function checkCancelAll(read: FieldReader): Checked<CancelScope> {
  const market = read('market') === undefined ? null : checkNamedMarket(read);
  if (market?.valid === false) return market;
  const types = read('type') ?? tradingGrounds;
  if (!Array.isArray(types)) return failCheck('types_not_array');
  if (!types.every((type) => tradingGrounds.includes(type))) return failCheck('types_unknown');
  // Unlike in orders, the sides are in lower case here.
  const word = read('positionSide') ?? null;
  const positionSide = positionSides.find((side) => side.toLowerCase() === word) ?? null;
  if (word !== null && positionSide === null) return failCheck('cancel_side_unknown');
  return { valid: true, value: { market: market?.value.name ?? null, types, positionSide } };
}

function serveCancelConditional(
  context: RequestContext,
  field: 'id' | 'otoId',
  notInteger: RefusalName,
  notFound: RefusalName,
): Reply {
  const { account, atMs, read } = context;
  return serveChecked(checkNamed(read, field, notInteger), ({ market, id }) =>
    execute(context, { kind: 'cancel_conditional', account, atMs, market, id }, [], notFound),
  );
}

function serveClosePosition(context: RequestContext): Reply {
  const { account, atMs, read } = context;
  const named = checkNamed(read, 'positionId', 'position_id_not_integer');
  return serveChecked(named, ({ market, id: positionId }) =>
    execute(context, { kind: 'close_position', account, atMs, market, positionId }, []),
  );
}

function checkNamed(
  read: FieldReader,
  field: string,
  notInteger: RefusalName,
): Checked<{ readonly market: string; readonly id: number }> {
  const market = checkNamedMarket(read);
  if (!market.valid) return market;
  const id = read(field);
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return failCheck(notInteger);
  return { valid: true, value: { market: market.value.name, id } };
}

function serveLeverage(context: RequestContext): Reply {
  const { account, atMs, read } = context;
  const leverage = read('leverage');
  if (typeof leverage !== 'number' || !leverages.includes(leverage)) return refuse('leverage_unknown');
  return execute(context, { kind: 'set_leverage', account, atMs, leverage }, { leverage });
}

function serveSetHedgeMode(context: RequestContext): Reply {
  const { account, atMs, read } = context;
  const isHedged = read('hedgeMode');
  if (typeof isHedged !== 'boolean') return refuse('hedge_mode_not_boolean');
  return execute(context, { kind: 'set_hedge_mode', account, atMs, isHedged }, { hedgeMode: isHedged });
}
