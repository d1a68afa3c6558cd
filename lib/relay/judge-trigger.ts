import type { Alarm } from '../base/alarms.ts';
import type { Dialect } from '../exchange/dialect.ts';
import type { Order, Side, TriggerSide } from '../model/order.ts';
import type { Denial } from '../model/outcome.ts';
import type { OrderSignal } from '../model/signal.ts';
import { kindNamed } from '../orders/order-kinds.ts';

/** The result of comparing the trigger of an order with what its alert expects. */
export interface TriggerFinding {
  /** Stored in the ledger; null when the trigger is on the usual side and nothing else was expected. */
  readonly note: string | null;
  /** Present when the trigger is not as the alert expects, or cannot be checked. */
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
 * Denies a signal whose alert expects a side of its trigger, in a dialect whose responses do not report that side.
 *
 * The relay reads no market prices: only the response to the order says on which side its trigger lies.
 */
export function checkTriggerReported(signal: OrderSignal, dialect: Dialect): Denial | null {
  const expected = kindNamed(signal.orderType).trigger(signal)?.expected ?? null;
  if (expected === null || dialect === 'live') return null;
  return {
    rule: 'expect_trigger',
    limit: `a stop price ${expected} the last price`,
    actual: 'not known',
    message: `expectTrigger cannot be checked: in the dialect "${dialect}" the exchange does not report on which side of its last price a stop price lies; nothing was sent. Remove expectTrigger, or set the exchange's dialect in relay.config.ts to "live" if that is what it speaks`,
  };
}

/** Compares the trigger of an order, as the exchange reports it, with what its alert expects and what is usual. */
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
          `the alert expects the stop price ${stopPrice} of order ${orderId} ${expected} the last price, and the exchange does not report where it lies: check the order`,
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
