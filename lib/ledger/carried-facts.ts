import { type Decimal, formatDecimal } from '../base/decimal.ts';
import { decimalIn, fieldsOf, type Json, numberIn, textIn } from '../base/json.ts';
import { orderStatuses, positionSides, sides } from '../model/order.ts';
import type { DecimalText, OrderSize } from '../model/signal.ts';
import type {
  CancelledOrder,
  CountedFact,
  ExitPrices,
  OrderReport,
  PositionFact,
  PositionOrder,
  StepFacts,
} from '../model/step-facts.ts';
import type { Step } from './entry.ts';

/**
 * The facts of a step that an older release wrote: it left them in the evidence. Evidence that was shortened may miss some.
 *
 * @returns undefined when it has none
 */
export function carryFacts({ evidence }: Step): StepFacts | undefined {
  const fields = fieldsOf(evidence);
  const objects = listObjects(evidence);
  const order = fieldsOf(fields['order'] ?? fieldsOf(fields['placed'])['order']);
  const wasFilled = fieldsOf(fields['target'])['state'] === 'executed';
  const facts: StepFacts = {
    ...optional('position', positionIn(fields['position'] ?? fieldsOf(fields['prepared'])['position'])),
    ...optional('positionOrder', positionOrderIn(fields['positionOrder'])),
    ...optional('amount', decimalTextIn(fields['amount'])),
    ...optional('exits', exitsIn(fields['exits'])),
    ...optional('counted', countedIn(fields['counted'])),
    ...optional('report', reportIn(order)),
    ...('ended' in fields ? { ended: reportIn(fieldsOf(fields['ended'])) } : {}),
    ...optional('proved', cancelledIn(fields)),
    ...optional('refusedCode', numberIn(fieldsOf(fields['failure'])['exchangeCode'])),
    ...optional('placedBy', textsIn(fields['placedBy'])),
    ...optional('cancelled', listed(objects.flatMap((object) => cancelledIn(object) ?? []))),
    ...(wasFilled || objects.some(({ wasGone }) => wasGone === true) ? { wasGone: true } : {}),
    ...optional('ticker', textIn(fields['ticker'])),
    ...optional('exitsEndedFor', textsIn(fields['exitsEndedFor'])),
  };
  return Object.keys(facts).length === 0 ? undefined : facts;
}

function optional<K extends keyof StepFacts>(
  name: K,
  value: StepFacts[K] | null,
): Pick<StepFacts, K> | object {
  return value === null || value === undefined ? {} : { [name]: value };
}

function decimalTextIn(json: Json | undefined): DecimalText | null {
  return textOf(decimalIn(json));
}

function textOf(decimal: Decimal | null): DecimalText | null {
  return decimal === null ? null : formatDecimal(decimal);
}

function positionIn(json: Json | undefined): PositionFact | null {
  const fields = fieldsOf(json);
  const amount = decimalTextIn(fields['amount']);
  const side = fields['side'];
  if (amount === null) return null;
  return side === 'LONG' || side === 'SHORT' ? { amount, side } : { amount };
}

function positionOrderIn(json: Json | undefined): PositionOrder | null {
  const fields = fieldsOf(json);
  const side = sides.find((one) => one === fields['side']);
  const size = sizeIn(fieldsOf(fields['size']));
  const { reduceOnly } = fields;
  if (side === undefined || size === null || typeof reduceOnly !== 'boolean') return null;
  const positionSide = positionSides.find((one) => one === fields['positionSide']);
  return { side, size, reduceOnly, ...(positionSide === undefined ? {} : { positionSide }) };
}

function sizeIn({ unit, quantity, quoteQuantity, quantityPercent, of }: Fields): OrderSize | null {
  if (unit === 'base' && typeof quantity === 'string') return { unit, quantity };
  if (unit === 'quote' && typeof quoteQuantity === 'string') return { unit, quoteQuantity };
  const isShare = unit === 'percent' && typeof quantityPercent === 'string' && quantityPercent.endsWith('%');
  if (!isShare || (of !== 'balance' && of !== 'position')) return null;
  return { unit, quantityPercent: quantityPercent as `${string}%`, of };
}

function exitsIn(json: Json | undefined): ExitPrices | null {
  const { stopLoss, takeProfit } = fieldsOf(json);
  const [stop, target] = [decimalTextIn(stopLoss), decimalTextIn(takeProfit)];
  if (stop === null && target === null) return null;
  return {
    ...(stop === null ? {} : { stopLoss: stop }),
    ...(target === null ? {} : { takeProfit: target }),
  };
}

function countedIn(json: Json | undefined): CountedFact | null {
  const fields = fieldsOf(json);
  const side = sides.find((one) => one === fields['side']);
  const amount = decimalTextIn(fields['amount']);
  if (side === undefined || amount === null) return null;
  return {
    side,
    amount,
    notional: decimalTextIn(fields['notional']),
    onlyReduces: fields['onlyReduces'] === true,
  };
}

type Fields = Readonly<Record<string, Json>>;

/** Null when the fields are no order, as of one that was not reported. */
function reportIn(fields: Fields): OrderReport | null {
  const orderId = numberIn(fields['orderId']);
  const side = sides.find((one) => one === fields['side']);
  if (orderId === null || side === undefined) return null;
  const [filled, amount] = [decimalTextIn(fields['filled']) ?? '0', decimalTextIn(fields['amount']) ?? '0'];
  const [notional, fee] = [decimalTextIn(fields['filledNotional']), decimalTextIn(fields['fee'])];
  const [condition, feeAsset] = [textIn(fields['activationCondition']), textIn(fields['feeAsset'])];
  const exits = exitsIn(fields['oto']);
  return {
    orderId,
    side,
    // The first releases stored no status.
    status: orderStatuses.find((one) => one === fields['status']) ?? (filled === amount ? 'filled' : 'open'),
    amount,
    filled,
    ...(notional === null ? {} : { filledNotional: notional }),
    ...(fee === null ? {} : { fee }),
    ...(feeAsset === null ? {} : { feeAsset }),
    createdAtMs: numberIn(fields['createdAtMs']),
    endedAtMs: numberIn(fields['endedAtMs']),
    ...(condition === null ? {} : { activationCondition: condition }),
    ...(exits === null ? {} : { exits }),
  };
}

function cancelledIn({ orderId, filled }: Fields): CancelledOrder | null {
  const [id, amount] = [numberIn(orderId), decimalTextIn(filled)];
  return id === null || amount === null ? null : { orderId: id, filled: amount };
}

/** A single text counts as a list of one. */
function textsIn(json: Json | undefined): readonly string[] | null {
  const values: readonly Json[] = Array.isArray(json) ? json : [json ?? null];
  return listed(values.filter((value) => typeof value === 'string'));
}

function listed<T>(values: readonly T[]): readonly T[] | null {
  return values.length === 0 ? null : values;
}

/** Every object in it, at whatever depth. */
function listObjects(json: Json | undefined): readonly Fields[] {
  if (Array.isArray(json)) return json.flatMap(listObjects);
  const fields = fieldsOf(json);
  return [
    fields,
    ...Object.values(fields).flatMap((value) => (typeof value === 'object' ? listObjects(value) : [])),
  ];
}
