import { quoteInName } from '../../lib/model/market.ts';
import type {
  CancelScope,
  CloseSignal,
  ExitRole,
  OrderSignal,
  OrderSize,
  PositionSignal,
  PositionTarget,
  ProtectSignal,
  Signal,
  TakeProfitPart,
} from '../../lib/model/signal.ts';
import { kindNamed } from '../../lib/orders/order-kinds.ts';

const scopeNotes: Readonly<Record<CancelScope, string>> = { own: '', market: ', whoever placed it' };

const roleNames: Readonly<Record<ExitRole, string>> = { stop_loss: 'stop-loss', take_profit: 'take-profit' };

function whatOf({ role, part, turnedBy }: ProtectSignal): string {
  if (turnedBy !== undefined) return `close of what was turned by the ${roleNames[role]}`;
  return `${roleNames[role]}${part === undefined ? '' : ` ${part}`}`;
}

type Exits = Pick<OrderSignal, 'stopLoss' | 'takeProfit' | 'takeProfits' | 'trailing'>;

/** What protects a position, one text each. */
function describeExits({ stopLoss, trailing, takeProfit, takeProfits }: Exits): readonly string[] {
  return [
    ...(stopLoss === undefined ? [] : [`stop loss ${stopLoss}`]),
    ...(trailing === undefined ? [] : [`trailing ${trailing}`]),
    ...(takeProfit === undefined ? [] : [`take profit ${takeProfit}`]),
    ...(takeProfits === undefined ? [] : [`take profit ${describeTakeProfits(takeProfits)}`]),
  ];
}

/** `51000 for 50%, 52000 for 50%` */
export function describeTakeProfits(parts: readonly TakeProfitPart[]): string {
  return parts.map(({ price, share }) => `${price} for ${share}`).join(', ');
}

/** A short description of a signal, for a table. */
export function summariseSignal(signal: Signal): string {
  switch (signal.action) {
    case 'order':
      return `${signal.side} ${describeSize(signal)} ${kindNamed(signal.orderType).summarise(signal)}`;
    case 'close':
    case 'reverse':
    case 'target':
      return summarisePosition(signal);
    case 'protect':
      return `${whatOf(signal)} of ${signal.of}`;
    case 'protect_position':
      return `protect: ${describeExits(signal).join(', ')}`;
    case 'cancel':
      return `cancel ${describeTarget(signal)}`;
    case 'cancel_all':
      return `cancel all${scopeNotes[signal.scope ?? 'own']}`;
  }
}

/** A full description of a signal. */
export function describeSignal(signal: Signal): string {
  switch (signal.action) {
    case 'order':
      return describeOrder(signal);
    case 'close':
    case 'reverse':
    case 'target':
      return describePosition(signal);
    case 'protect':
      return `the ${whatOf(signal)} of "${signal.of}" in ${signal.market}`;
    case 'protect_position':
      return [`protect the position of ${signal.market}`, ...describeExits(signal)].join(', ');
    case 'cancel':
      return `cancel ${describeTarget(signal)} of ${signal.market}`;
    case 'cancel_all':
      return `cancel ${openOrders(signal.scope ?? 'own', signal.market)}`;
  }
}

function openOrders(scope: CancelScope, market: string): string {
  return scope === 'own'
    ? `the open orders of ${market} that this relay placed`
    : `every open order of ${market}, whoever placed it`;
}

function describeOrder(signal: OrderSignal): string {
  const { side, market, positionSide, reduceOnly, stp } = signal;
  const { size, requirePosition, onMismatch, referencePrice } = signal;
  const parts = [
    `${side} ${describeSize(signal)}${size.unit === 'percent' ? ' on' : ' of'} ${market}`,
    ...kindNamed(signal.orderType).describePrices(signal),
    ...describeExits(signal),
    ...(positionSide === undefined ? [] : [`position side ${positionSide}`]),
    ...(reduceOnly === true ? ['reduce-only'] : []),
    ...(stp === undefined ? [] : [`self-trade prevention ${stp}`]),
    ...(requirePosition === undefined ? [] : [describePresumed(requirePosition, onMismatch)]),
    ...(referencePrice === undefined ? [] : [`fills compared with ${referencePrice}`]),
  ];
  return parts.join(', ');
}

function describePresumed(
  required: NonNullable<OrderSignal['requirePosition']>,
  rule: OrderSignal['onMismatch'],
): string {
  const otherwise = { resync: ', otherwise resync', flatten: ', otherwise flatten' };
  return `only if the position is ${required}${rule === undefined ? '' : otherwise[rule]}`;
}

function summarisePosition(signal: PositionSignal): string {
  switch (signal.action) {
    case 'close':
      return describeClose(signal);
    case 'reverse': {
      const size = signal.size === undefined ? '' : ` to ${describeSize({ ...signal, size: signal.size })}`;
      return `reverse${size} (${legNotes[signal.leg]})`;
    }
    case 'target': {
      const leg = signal.target.unit === 'flat' ? '' : ` (${legNotes[signal.leg]})`;
      return `target ${describeTargetOf(signal.target, signal.market)}${leg}`;
    }
  }
}

const legNotes = { reduce: 'leg 1 of 2: reduce', open: 'leg 2 of 2: open' };

function describeClose({ part, unless, only, positionSide }: CloseSignal): string {
  const side = positionSide === undefined || positionSide === 'BOTH' ? '' : ` ${positionSide}`;
  const named = only === undefined ? '' : `, if it is ${only}`;
  const condition = unless === undefined ? '' : ` unless the position is ${unless} (leg 1 of 2)`;
  return `close ${part ?? 'all'}${side}${named}${condition}`;
}

function describeWorst({ worstPrice }: CloseSignal): readonly string[] {
  return worstPrice === undefined ? [] : [`no worse than ${worstPrice}`];
}

function describePosition(signal: PositionSignal): string {
  const { market, maxSlippage, stp, referencePrice, keepEntries } = signal;
  return [
    `${summarisePosition(signal)}, position of ${market}`,
    ...(maxSlippage === undefined ? [] : [`at most ${maxSlippage} beyond the best price`]),
    ...(signal.action === 'close' ? describeWorst(signal) : describeExits(signal)),
    ...(keepEntries === true ? ['resting entries stay'] : []),
    ...(stp === undefined ? [] : [`self-trade prevention ${stp}`]),
    ...(referencePrice === undefined ? [] : [`fills compared with ${referencePrice}`]),
  ].join(', ');
}

function describeTargetOf(target: PositionTarget, market: string): string {
  switch (target.unit) {
    case 'flat':
      return 'flat';
    case 'base':
      return target.quantity;
    case 'quote':
      return `${target.quoteQuantity} ${quoteInName(market) ?? 'of the quote currency'}`;
    case 'percent':
      return `${target.percentOfEquity} of the equity`;
  }
}

interface Sized {
  readonly size: OrderSize;
  readonly market: string;
}

/** `for 100 USDT` is an amount in the quote currency of the market, `5% of the balance` a share. */
function describeSize({ size, market }: Sized): string {
  switch (size.unit) {
    case 'base':
      return size.quantity;
    case 'quote':
      return `for ${size.quoteQuantity} ${quoteInName(market) ?? 'of the quote currency'}`;
    case 'percent':
      return `${size.quantityPercent} of the ${size.of}`;
  }
}

function describeTarget({ target }: Extract<Signal, { action: 'cancel' }>): string {
  switch (target.by) {
    case 'orderId':
      return `order ${target.orderId}`;
    case 'clientOrderId':
      return `order ${target.clientOrderId}`;
    case 'signalId':
      return `signal ${target.signalId}`;
  }
}
