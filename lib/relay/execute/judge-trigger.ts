import type { Alarm } from '../../base/alarms.ts';
import { type Decimal, formatDecimal, parseDecimal, zero } from '../../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { ticker } from '../../exchange/endpoints/ticker.ts';
import { ifRead } from '../../exchange/errors.ts';
import { type Order, type TriggerSide, triggerSideOf, usualTriggerSides } from '../../model/order.ts';
import type { Denial } from '../../model/outcome.ts';
import type { OrderSignal } from '../../model/signal.ts';
import { kindNamed } from '../../orders/order-kinds.ts';

/** The result of comparing the trigger of an order with what its alert expects. */
export interface TriggerFinding {
  /** Stored in the ledger; null when the trigger is on the usual side and nothing else was expected. */
  readonly note: string | null;
  /** Present when the trigger is not as the alert expects, or cannot be checked. */
  readonly alarm?: Alarm;
}

const moves: Readonly<Record<TriggerSide, string>> = { above: 'rises', below: 'falls' };

/** What is compared with an expected trigger when no last price is known. */
const unknownPrice = 'not known';

/** Whether an order was denied because the last price has passed its trigger price, as far as that is known. */
export function isTriggerPassed({ rule, actual }: Denial): boolean {
  return rule === 'expect_trigger' && actual !== unknownPrice;
}

/**
 * Denies a signal whose trigger price is not on the side of the last price that its alert expects, or where that cannot
 * be told: without a last price, and in a dialect whose responses do not report the side.
 *
 * The price can move until the exchange has the order, so its response is judged as well: see {@link judgeTrigger}.
 *
 * @param waitsBySide reads whether a rehearsal found that the side of a stop decides which way it waits; asked only where
 * the alert expects the other way
 * @see DECISIONS 104
 */
export async function checkTrigger(
  client: ExchangeClient,
  signal: OrderSignal,
  options: SendOptions,
  waitsBySide: () => Promise<boolean>,
): Promise<Denial | null> {
  const trigger = kindNamed(signal.orderType).trigger(signal);
  if (trigger === null || trigger.expected === null) return null;
  const { stopPrice, expected } = trigger;
  const deny = (limit: string, actual: string, message: string): Denial => ({
    rule: 'expect_trigger',
    limit,
    actual,
    message,
  });
  if (client.dialect !== 'live')
    return deny(
      `a stop price ${expected} the last price`,
      unknownPrice,
      `expectTrigger cannot be checked: in the dialect "${client.dialect}" the exchange does not report on which side of its last price a stop price lies; nothing was sent. Remove expectTrigger, or set the exchange's dialect in relay.config.ts to "live" if that is what it speaks`,
    );
  const usual = usualTriggerSides[signal.side];
  if (expected !== usual && (await waitsBySide()))
    return deny(
      `a trigger price ${expected} the last price`,
      `a ${signal.side}, which waits for a price that ${moves[usual]}`,
      `the alert expects a ${signal.side} that waits for a price that ${moves[expected]}, and a rehearsal of this account found that the exchange lets a ${signal.side} wait for one that ${moves[usual]}, wherever the last price is; nothing was sent`,
    );
  const lastPrice = await readLastPrice(client, signal.market, options);
  const limit = `a trigger price ${expected} the last price`;
  const advice = 'nothing was sent. Correct stopPrice, or remove expectTrigger';
  if (lastPrice === null)
    return deny(
      limit,
      unknownPrice,
      `expectTrigger cannot be checked: the exchange reports no last price of ${signal.market}; ${advice}`,
    );
  const distance = parseDecimal(stopPrice).cmp(lastPrice);
  if (distance === 0 || distance > 0 === (expected === 'above')) return null;
  const actual = `${stopPrice}, and the last price is ${formatDecimal(lastPrice)}`;
  return deny(limit, actual, `the alert expects ${limit}, but it is ${actual}; ${advice}`);
}

/** Null when the exchange reports none, or cannot be asked. A market without a trade yet may report 0. */
export async function readLastPrice(
  client: ExchangeClient,
  market: string,
  options: SendOptions,
): Promise<Decimal | null> {
  return (await readLastPrices(client, options))(market);
}

/** The last price of each market, by one request. */
export async function readLastPrices(
  client: ExchangeClient,
  options: SendOptions,
): Promise<(market: string) => Decimal | null> {
  const prices = (await ifRead(client.call(ticker, {}, options))) ?? {};
  return (market) => (prices[market]?.gt(zero) === true ? prices[market] : null);
}

/** Compares the trigger of an order, as the exchange reports it, with what its alert expects and what is usual. */
export function judgeTrigger(
  signal: OrderSignal,
  { orderId, ...reported }: Pick<Order, 'orderId' | 'activationCondition'>,
): TriggerFinding {
  const trigger = kindNamed(signal.orderType).trigger(signal);
  if (trigger === null) return { note: null };
  const { stopPrice, expected } = trigger;
  const side = triggerSideOf(reported);
  if (side === null)
    return expected === null
      ? { note: null }
      : alarming(
          `the alert expects the stop price ${stopPrice} of order ${orderId} ${expected} the last price, and the exchange does not report where it lies: check the order`,
        );
  const usual = usualTriggerSides[signal.side];
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
