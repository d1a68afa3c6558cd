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

/** The fields of an order, and the account whose settings complete them. */
export interface OrderSource {
  readonly fields: Fields;
  readonly side: Side;
  readonly account: Account;
  /** The signal's position in an array, for example `[1].`; empty for a single signal. */
  readonly prefix: string;
}

/** Fields that only orders have. */
export const orderFields: readonly FieldName[] = ['orderType', ...orderFieldNames];

const orderTypeWords: Readonly<Record<string, OrderKindName>> = Object.fromEntries(
  orderKinds.flatMap(({ name, words }) => words.map((word) => [word, name])),
);
const positionSideWords: Readonly<Record<string, PositionSide>> = {
  long: 'LONG',
  short: 'SHORT',
  both: 'BOTH',
};

/**
 * Parses the order fields of a signal and adds every validation issue; undefined when the order is
 * incomplete.
 */
export function parseOrder(source: OrderSource, issues: Issues): OwnPart<OrderSignal> | undefined {
  const kind = readKind(source, issues);
  if (kind !== undefined) return parseKind(kind, source, issues);
  readSize(source.fields, source.prefix, issues);
  readCommonValues(source.fields, issues);
  return undefined;
}

/** Reads the order fields of an alert with an unknown action, only to report their validation issues. */
export function readOrderValues(fields: Fields, issues: Issues): void {
  readGiven(fields.quantity, issues);
  readGiven(fields.quoteQuantity, issues);
  readCommonValues(fields, issues);
}

function readCommonValues(fields: Fields, issues: Issues): void {
  for (const name of priceNames) readGiven(fields[name], issues);
  readPositionSide(fields, issues);
  readExpectTrigger(fields, 'buy', issues);
}

/**
 * A stop price without `orderType` means a stop-limit order. A limit price alone could belong to any kind.
 */
function readKind({ fields, prefix }: OrderSource, issues: Issues): OrderKind | undefined {
  if (fields.orderType !== undefined) {
    const name = readWord(
      fields.orderType,
      orderTypeWords,
      'a kind of order this relay places',
      issues,
      hintForForeignOrderType,
    );
    return name && kindNamed(name);
  }
  if (fields.stopPrice !== undefined) return kindNamed('stop_limit');
  const lines = orderKinds.map(({ name, title }) => `"orderType": "${name}" for a ${title}`);
  return issues.add(
    `${prefix}orderType`,
    'the alert has neither an order type nor a stop price',
    `add ${lines.join(', or ')}; a stop-limit order also needs "stopPrice"`,
  );
}

function parseKind(kind: OrderKind, source: OrderSource, issues: Issues): OwnPart<OrderSignal> | undefined {
  const { fields, side, prefix } = source;
  for (const name of orderFieldNames) refuseForbidden(kind.fields[name], fields[name], issues);
  const size = readSize(fields, prefix, issues);
  const prices = readPrices(kind, source, issues);
  const positionSide = readPositionSide(fields, issues);
  const expectTrigger = readExpectTrigger(fields, side, issues);
  if (size === undefined) return undefined;
  return kind.createSignal({
    side,
    size,
    ...prices,
    ...(positionSide === undefined ? {} : { positionSide }),
    ...(expectTrigger === undefined ? {} : { expectTrigger }),
  });
}

function refuseForbidden(rule: FieldRule, field: Field | undefined, issues: Issues): void {
  if (rule.use === 'forbidden' && field !== undefined)
    issues.add(field.path, rule.complaint.message, rule.complaint.hint);
}

function readSize(fields: Fields, prefix: string, issues: Issues): OrderSize | undefined {
  const quantity = readGiven(fields.quantity, issues);
  const quoteQuantity = readGiven(fields.quoteQuantity, issues);
  if (fields.quantity !== undefined && fields.quoteQuantity !== undefined)
    return issues.add(
      fields.quoteQuantity.path,
      'the size is given twice, in the base and in the quote currency',
      'keep "quantity" (base units) or "quoteQuantity" (an amount of the quote currency)',
    );
  if (quantity !== undefined) return { unit: 'base', quantity };
  if (quoteQuantity !== undefined) return { unit: 'quote', quoteQuantity };
  if (fields.quantity !== undefined || fields.quoteQuantity !== undefined) return undefined;
  return issues.add(
    `${prefix}quantity`,
    'the order has no size',
    'add "quantity": "{{strategy.order.contracts}}", or "quoteQuantity" for an amount of the quote currency',
  );
}

const priceNames = ['stopPrice', 'limitPrice', 'stopLoss', 'takeProfit'] as const satisfies OrderFieldName[];
type Prices = Partial<Record<(typeof priceNames)[number], DecimalText>>;

function readPrices(kind: OrderKind, { fields, account, prefix }: OrderSource, issues: Issues): Prices {
  const prices: Prices = {};
  for (const name of priceNames) {
    const rule = kind.fields[name];
    const price = readGiven(fields[name], issues);
    if (price !== undefined) prices[name] = price;
    const complaint = rule.use === 'required' && fields[name] === undefined ? rule.complain(account) : null;
    if (complaint !== null) issues.add(`${prefix}${name}`, complaint.message, complaint.hint);
  }
  return prices;
}

function readPositionSide({ positionSide }: Fields, issues: Issues): PositionSide | undefined {
  if (positionSide === undefined) return undefined;
  return readWord(positionSide, positionSideWords, 'a side of a position', issues);
}

const expectedSideWords = { above: 'above', below: 'below', breakout: 'breakout' } as const;
const breakoutSides: Readonly<Record<Side, TriggerSide>> = { buy: 'above', sell: 'below' };

/** `breakout` is the usual side of a stop price: above the last price for a buy, below it for a sell. */
function readExpectTrigger({ expectTrigger }: Fields, side: Side, issues: Issues): TriggerSide | undefined {
  if (expectTrigger === undefined) return undefined;
  const word = readWord(expectTrigger, expectedSideWords, 'a side of the last price', issues);
  return word === 'breakout' ? breakoutSides[side] : word;
}

function readGiven(field: Field | undefined, issues: Issues): DecimalText | undefined {
  return field === undefined ? undefined : readPositive(field, issues);
}
