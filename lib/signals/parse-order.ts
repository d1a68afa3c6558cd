import type { Account } from '../model/account.ts';
import type { PositionSide, Side } from '../model/order.ts';
import type { OrderSignal, OrderSize, Signal } from '../model/signal.ts';
import type { Faults } from './faults.ts';
import type { Field, FieldName, Fields } from './fields.ts';
import { readPositive } from './read-number.ts';
import { readWord } from './read-text.ts';

/** What every signal says, whatever its action. */
export type CommonPart = Pick<
  Signal,
  'ticker' | 'market' | 'timeMs' | 'maxLagMs' | 'strategy' | 'interval' | 'comment' | 'extras'
>;
/** What signals of one action say beyond that. */
export type OwnPart<Variant extends Signal> = Variant extends Signal
  ? Omit<Variant, keyof CommonPart>
  : never;

/** Where an order is read from and what it is held against. */
export interface OrderSource {
  readonly fields: Fields;
  readonly side: Side;
  readonly account: Account;
  /** Where the alert stands, for example `[1].`; empty for a lone one. */
  readonly prefix: string;
}

/** Fields that belong to orders alone. */
export const orderFields: readonly FieldName[] = [
  'orderType',
  'quantity',
  'quoteQuantity',
  'stopPrice',
  'limitPrice',
  'stopLoss',
  'takeProfit',
  'positionSide',
];

const orderTypeWords: Readonly<Record<string, OrderSignal['orderType']>> = {
  stop_limit: 'stop_limit',
  'stop-limit': 'stop_limit',
  'stop limit': 'stop_limit',
  stoplimit: 'stop_limit',
};
const positionSideWords: Readonly<Record<string, PositionSide>> = {
  long: 'LONG',
  short: 'SHORT',
  both: 'BOTH',
};

/** Reads what makes an order, gathering every fault; undefined when there is no whole order in it. */
export function parseOrder(source: OrderSource, faults: Faults): OwnPart<OrderSignal> | undefined {
  const { orderType: field } = source.fields;
  const orderType = field === undefined ? 'stop_limit' : readOrderType(field, faults);
  switch (orderType) {
    case 'stop_limit':
      return parseStopLimit(source, faults);
    case undefined:
      readOrderValues(source.fields, faults);
      return undefined;
  }
}

/** Reads the values of an order whose kind is not known, for their faults alone. */
export function readOrderValues(fields: Fields, faults: Faults): void {
  const { quantity, quoteQuantity, stopPrice, limitPrice, stopLoss, takeProfit } = fields;
  for (const field of [quantity, quoteQuantity, stopPrice, limitPrice, stopLoss, takeProfit])
    readGiven(field, faults);
  readPositionSide(fields, faults);
}

function readOrderType(field: Field, faults: Faults): OrderSignal['orderType'] | undefined {
  return readWord(field, orderTypeWords, 'a kind of order this relay places', faults);
}

function parseStopLimit(source: OrderSource, faults: Faults): OwnPart<OrderSignal> | undefined {
  const { fields, side, prefix } = source;
  const size = readSize(fields, prefix, faults);
  const stopPrice = readStopPrice(source, faults);
  const limitPrice = readLimitPrice(source, faults);
  const stopLoss = readGiven(fields.stopLoss, faults);
  const takeProfit = readGiven(fields.takeProfit, faults);
  const positionSide = readPositionSide(fields, faults);
  if (size === undefined || stopPrice === undefined) return undefined;
  return {
    action: 'order',
    orderType: 'stop_limit',
    side,
    size,
    stopPrice,
    limitPrice: limitPrice ?? null,
    ...(stopLoss === undefined ? {} : { stopLoss }),
    ...(takeProfit === undefined ? {} : { takeProfit }),
    ...(positionSide === undefined ? {} : { positionSide }),
  };
}

function readSize(fields: Fields, prefix: string, faults: Faults): OrderSize | undefined {
  const quantity = readGiven(fields.quantity, faults);
  const quoteQuantity = readGiven(fields.quoteQuantity, faults);
  if (fields.quantity !== undefined && fields.quoteQuantity !== undefined)
    return faults.add(
      fields.quoteQuantity.path,
      'the size is given twice, in stock and in money',
      'keep "quantity" (stock) or "quoteQuantity" (money)',
    );
  if (quantity !== undefined) return { unit: 'stock', quantity };
  if (quoteQuantity !== undefined) return { unit: 'money', quoteQuantity };
  if (fields.quantity !== undefined || fields.quoteQuantity !== undefined) return undefined;
  return faults.add(
    `${prefix}quantity`,
    'the order has no size',
    'add "quantity": "{{strategy.order.contracts}}", or "quoteQuantity" for an amount of money',
  );
}

function readStopPrice({ fields, prefix }: OrderSource, faults: Faults): string | undefined {
  if (fields.stopPrice !== undefined) return readPositive(fields.stopPrice, faults);
  return faults.add(
    `${prefix}stopPrice`,
    'a stop-limit order needs the price that activates it',
    'add "stopPrice"; "price" alone could mean either price, and is the limit price here',
  );
}

function readLimitPrice({ fields, account, prefix }: OrderSource, faults: Faults): string | undefined {
  if (fields.limitPrice !== undefined) return readPositive(fields.limitPrice, faults);
  if (account.limitOffsetRate !== null) return undefined;
  return faults.add(
    `${prefix}limitPrice`,
    `the order has no limit price, and account ${account.name} sets no limit offset to work one out with`,
    'add "limitPrice", or give the account a limit offset in relay.config.ts',
  );
}

function readPositionSide({ positionSide }: Fields, faults: Faults): PositionSide | undefined {
  if (positionSide === undefined) return undefined;
  return readWord(positionSide, positionSideWords, 'a side of a position', faults);
}

function readGiven(field: Field | undefined, faults: Faults): string | undefined {
  return field === undefined ? undefined : readPositive(field, faults);
}
