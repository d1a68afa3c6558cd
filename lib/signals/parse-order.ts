import type { Account } from '../model/account.ts';
import type { OrderKindName, PositionSide, Side, TriggerSide } from '../model/order.ts';
import type { DecimalText, OrderSignal, OrderSize, OwnPart } from '../model/signal.ts';
import {
  type FieldRule,
  type OrderFieldName,
  type OrderKind,
  orderFieldNames,
} from '../orders/order-kind.ts';
import { kindNamed, orderKinds } from '../orders/order-kinds.ts';
import type { Field, FieldName, Fields } from './fields.ts';
import { hintForForeignOrderType } from './foreign-words.ts';
import type { Issues } from './issues.ts';
import { readPositive } from './read-number.ts';
import { readWord } from './read-text.ts';

/** Where an order is read from and what it is held against. */
export interface OrderSource {
  readonly fields: Fields;
  readonly side: Side;
  readonly account: Account;
  /** Where the alert stands, for example `[1].`; empty for a lone one. */
  readonly prefix: string;
}

/** Fields that belong to orders alone. */
export const orderFields: readonly FieldName[] = ['orderType', ...orderFieldNames];

const orderTypeWords: Readonly<Record<string, OrderKindName>> = Object.fromEntries(
  orderKinds.flatMap(({ name, words }) => words.map((word) => [word, name])),
);
const positionSideWords: Readonly<Record<string, PositionSide>> = {
  long: 'LONG',
  short: 'SHORT',
  both: 'BOTH',
};

/** Reads what makes an order, gathering every fault; undefined when there is no whole order in it. */
export function parseOrder(source: OrderSource, faults: Issues): OwnPart<OrderSignal> | undefined {
  const kind = readKind(source, faults);
  if (kind !== undefined) return parseKind(kind, source, faults);
  readSize(source.fields, source.prefix, faults);
  readCommonValues(source.fields, faults);
  return undefined;
}

/** Reads the values of what may be an order, for their faults alone. */
export function readOrderValues(fields: Fields, faults: Issues): void {
  readGiven(fields.quantity, faults);
  readGiven(fields.quoteQuantity, faults);
  readCommonValues(fields, faults);
}

function readCommonValues(fields: Fields, faults: Issues): void {
  for (const name of priceNames) readGiven(fields[name], faults);
  readPositionSide(fields, faults);
  readExpectTrigger(fields, 'buy', faults);
}

/** Without a kind it is the one that a stop price tells; a limit price alone could belong to any. */
function readKind({ fields, prefix }: OrderSource, faults: Issues): OrderKind | undefined {
  if (fields.orderType !== undefined) {
    const name = readWord(
      fields.orderType,
      orderTypeWords,
      'a kind of order this relay places',
      faults,
      hintForForeignOrderType,
    );
    return name && kindNamed(name);
  }
  if (fields.stopPrice !== undefined) return kindNamed('stop_limit');
  const lines = orderKinds.map(({ name, title }) => `"orderType": "${name}" for a ${title}`);
  return faults.add(
    `${prefix}orderType`,
    'the alert names no kind of order and has no stop price',
    `add ${lines.join(', or ')}; a stop-limit order also needs "stopPrice"`,
  );
}

function parseKind(kind: OrderKind, source: OrderSource, faults: Issues): OwnPart<OrderSignal> | undefined {
  const { fields, side, prefix } = source;
  for (const name of orderFieldNames) refuseForbidden(kind.fields[name], fields[name], faults);
  const size = readSize(fields, prefix, faults);
  const prices = readPrices(kind, source, faults);
  const positionSide = readPositionSide(fields, faults);
  const expectTrigger = readExpectTrigger(fields, side, faults);
  if (size === undefined) return undefined;
  return kind.createSignal({
    side,
    size,
    ...prices,
    ...(positionSide === undefined ? {} : { positionSide }),
    ...(expectTrigger === undefined ? {} : { expectTrigger }),
  });
}

function refuseForbidden(rule: FieldRule, field: Field | undefined, faults: Issues): void {
  if (rule.use === 'forbidden' && field !== undefined)
    faults.add(field.path, rule.complaint.message, rule.complaint.hint);
}

function readSize(fields: Fields, prefix: string, faults: Issues): OrderSize | undefined {
  const quantity = readGiven(fields.quantity, faults);
  const quoteQuantity = readGiven(fields.quoteQuantity, faults);
  if (fields.quantity !== undefined && fields.quoteQuantity !== undefined)
    return faults.add(
      fields.quoteQuantity.path,
      'the size is given twice, in the base and in the quote currency',
      'keep "quantity" (base units) or "quoteQuantity" (an amount of the quote currency)',
    );
  if (quantity !== undefined) return { unit: 'base', quantity };
  if (quoteQuantity !== undefined) return { unit: 'quote', quoteQuantity };
  if (fields.quantity !== undefined || fields.quoteQuantity !== undefined) return undefined;
  return faults.add(
    `${prefix}quantity`,
    'the order has no size',
    'add "quantity": "{{strategy.order.contracts}}", or "quoteQuantity" for an amount of the quote currency',
  );
}

const priceNames = ['stopPrice', 'limitPrice', 'stopLoss', 'takeProfit'] as const satisfies OrderFieldName[];
type Prices = Partial<Record<(typeof priceNames)[number], DecimalText>>;

function readPrices(kind: OrderKind, { fields, account, prefix }: OrderSource, faults: Issues): Prices {
  const prices: Prices = {};
  for (const name of priceNames) {
    const rule = kind.fields[name];
    const price = readGiven(fields[name], faults);
    if (price !== undefined) prices[name] = price;
    const complaint = rule.use === 'required' && fields[name] === undefined ? rule.complain(account) : null;
    if (complaint !== null) faults.add(`${prefix}${name}`, complaint.message, complaint.hint);
  }
  return prices;
}

function readPositionSide({ positionSide }: Fields, faults: Issues): PositionSide | undefined {
  if (positionSide === undefined) return undefined;
  return readWord(positionSide, positionSideWords, 'a side of a position', faults);
}

const expectedSideWords = { above: 'above', below: 'below', breakout: 'breakout' } as const;
const breakoutSides: Readonly<Record<Side, TriggerSide>> = { buy: 'above', sell: 'below' };

/** `breakout` is where a stop usually waits: above the price for a buy, below it for a sell. */
function readExpectTrigger({ expectTrigger }: Fields, side: Side, faults: Issues): TriggerSide | undefined {
  if (expectTrigger === undefined) return undefined;
  const word = readWord(expectTrigger, expectedSideWords, 'a side of the last price', faults);
  return word === 'breakout' ? breakoutSides[side] : word;
}

function readGiven(field: Field | undefined, faults: Issues): DecimalText | undefined {
  return field === undefined ? undefined : readPositive(field, faults);
}
