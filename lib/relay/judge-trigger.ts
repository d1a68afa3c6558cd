import type { Alarm } from '../base/alarms.ts';
import type { Dialect } from '../exchange/dialect.ts';
import type { Order, Side, TriggerSide } from '../model/order.ts';
import type { Denial } from '../model/outcome.ts';
import type { OrderSignal } from '../model/signal.ts';
import { kindNamed } from '../orders/order-kinds.ts';

/** What is to be said of the trigger of an order. */
export interface TriggerFinding {
  /** For the ledger; null when the order wakes as is usual and nothing else was expected. */
  readonly note: string | null;
  /** When it does not wake as its alert expects. */
  readonly alarm?: Alarm;
}

/** The exchange's words for the side of its last price on which it saw the stop price. */
const sidesByCondition: ReadonlyMap<string, TriggerSide> = new Map([
  ['gte', 'above'],
  ['lte', 'below'],
]);
const usualSides: Readonly<Record<Side, TriggerSide>> = { buy: 'above', sell: 'below' };
const moves: Readonly<Record<TriggerSide, string>> = { above: 'rises', below: 'falls' };

/**
 * Denies a signal that expects something of its trigger where no response of the exchange would tell.
 *
 * The relay reads no prices of the market: which way an order wakes, it hears from the response to that order.
 */
export function checkTriggerTold(signal: OrderSignal, dialect: Dialect): Denial | null {
  const expected = kindNamed(signal.orderType).trigger(signal)?.expected ?? null;
  if (expected === null || dialect === 'live') return null;
  return {
    rule: 'expect_trigger',
    limit: `a stop price ${expected} the last price`,
    actual: 'not known',
    message: `expectTrigger cannot be checked: in the dialect "${dialect}" the exchange does not tell on which side of its last price a stop price lies; nothing was sent. Remove expectTrigger, or set the exchange's dialect in relay.config.ts to "live" if that is what it speaks`,
  };
}

/** Holds an order, as the exchange reports it, against what its alert expects and against what is usual. */
export function judgeTrigger(
  signal: OrderSignal,
  { orderId, activationCondition = '' }: Pick<Order, 'orderId' | 'activationCondition'>,
): TriggerFinding {
  const trigger = kindNamed(signal.orderType).trigger(signal);
  if (trigger === null) return { note: null };
  const { stopPrice, expected } = trigger;
  const side = sidesByCondition.get(activationCondition) ?? null;
  if (side === null)
    return expected === null
      ? { note: null }
      : alarming(
          `the alert expects the stop price ${stopPrice} of order ${orderId} ${expected} the last price, and the exchange does not tell where it lies: look at the order`,
        );
  const usual = usualSides[signal.side];
  const wakes = `its stop price ${stopPrice} is ${side} the last price, so it wakes when the price ${moves[side]} to it`;
  if (expected !== null && expected !== side)
    return alarming(
      `order ${orderId} is not what its alert expects (a stop price ${expected} the last price): ${wakes}; cancel it at once if it must not wake`,
    );
  if (side === usual) return { note: null };
  return { note: `${wakes}; a ${signal.side} usually waits for a price that ${moves[usual]}` };
}

function alarming(text: string): TriggerFinding {
  return { note: text, alarm: { name: 'trigger_unexpected', message: text } };
}
