import { currenciesInName, dollars } from '../model/market.ts';
import type { OrderSize } from '../model/signal.ts';
import { sizeNames } from './field-table.ts';
import type { Field, Fields } from './fields.ts';
import { hintForForeignUnit, plainWord } from './foreign-words.ts';
import type { Issues } from './issues.ts';
import { isPercent, readPercent, readPositive } from './read-number.ts';
import { readWord, type Vocabulary } from './read-text.ts';

type Share = 'balance' | 'position';
type Unit = 'base' | 'quote' | 'usd' | 'percent' | 'percent_of_position';

/** Perpetual contracts of the exchange have a size of one base unit. */
const units: Vocabulary<Unit> = {
  what: 'a unit of a size',
  words: {
    base: 'base',
    contracts: 'base',
    fixedquantity: 'base',
    units: 'base',
    quote: 'quote',
    dollaramount: 'usd',
    usd: 'usd',
    usdt: 'usd',
    percent: 'percent',
    percentofposition: 'percent_of_position',
    percentageposition: 'percent_of_position',
  },
  known: ['base', 'quote', 'usd', 'percent', 'percent_of_position'],
  findHint: hintForForeignUnit,
};
const shares: Vocabulary<Share> = {
  what: 'something to take a share of',
  words: { balance: 'balance', position: 'position' },
  known: ['balance', 'position'],
};

const orderHint =
  'add "quantity": "{{strategy.order.contracts}}", or "quoteQuantity" for an amount of the quote currency, or "quantityPercent" for a share of what the account holds';
const exitHint =
  'for the whole position at market write "action": "close" without prices; for a part, or a price of its own, add "quantityPercent": "100%" with "of": "position", or "quantity": "{{strategy.order.contracts}}"';

/** Where a size is read: the market of the ticker, undefined when there is none. */
interface SizeSource {
  readonly fields: Fields;
  readonly market: string | undefined;
  readonly prefix: string;
  /** Whether the order leaves a position. */
  readonly isExit: boolean;
}

/**
 * Reads the size of an order: an amount in the base or in the quote currency, or a share of what the account holds.
 *
 * @param prefix the signal's position in an array, for example `[1].`; empty for a single signal
 */
export function readSize(
  { fields, market, prefix, isExit }: SizeSource,
  issues: Issues,
): OrderSize | undefined {
  if (sizeNames.every((name) => fields[name] === undefined))
    issues.add(`${prefix}quantity`, 'the order has no size', isExit ? exitHint : orderHint);
  return readLoneSize(fields, market, issues);
}

/** Reads a size if there is one, and refuses a second one. */
export function readLoneSize(
  fields: Fields,
  market: string | undefined,
  issues: Issues,
): OrderSize | undefined {
  const [, second] = sizeNames.flatMap((name) => fields[name] ?? []);
  if (second !== undefined)
    issues.add(
      second.path,
      'the size is given more than once',
      'keep one of "quantity" (in the base currency), "quoteQuantity" (in the quote currency) and "quantityPercent" (a share of what the account holds)',
    );
  return readGivenSize(fields, market, issues);
}

/** Reads a size if there is one. */
export function readGivenSize(
  fields: Fields,
  market: string | undefined,
  issues: Issues,
): OrderSize | undefined {
  const { quantity, quoteQuantity, quantityPercent, quantityType } = fields;
  const share = fields.of && readWord(fields.of, shares, issues);
  const unit = quantityType && readUnit(quantityType, market, issues);
  if (quoteQuantity !== undefined && /^usd|usdt?$/.test(plainWord(quoteQuantity.key)))
    refuseOtherQuote(quoteQuantity, market, issues);
  if (quantityType !== undefined && quantity === undefined)
    issues.add(
      quantityType.path,
      'it is the unit of "quantity", which the alert does not have',
      'add "quantity", or remove it',
    );
  if (quantity !== undefined && isPercentUnit(quantity, unit)) {
    refuseUnit(quantity, quantityType, unit, issues);
    return percentSize(
      quantity,
      fields,
      unit === 'percent_of_position' ? 'position' : undefined,
      share,
      issues,
    );
  }
  if (quantityPercent !== undefined) return percentSize(quantityPercent, fields, undefined, share, issues);
  if (fields.of !== undefined)
    issues.add(
      fields.of.path,
      '"of" says what a per cent is a share of, but the size is no per cent',
      'write the size as a per cent, for example "quantityPercent": "50%", or remove "of"',
    );
  if (quantity !== undefined) return amountSize(quantity, quantityType, unit, issues);
  const amount = quoteQuantity && readPositive(quoteQuantity, issues);
  return amount === undefined ? undefined : { unit: 'quote', quoteQuantity: amount };
}

/** An amount of dollars is one of the quote currency where that is worth a dollar. */
function readUnit(
  field: Field,
  market: string | undefined,
  issues: Issues,
): Exclude<Unit, 'usd'> | undefined {
  const unit = readWord(field, units, issues);
  if (unit !== 'usd') return unit;
  refuseOtherQuote(field, market, issues);
  return 'quote';
}

function refuseOtherQuote({ path }: Field, market: string | undefined, issues: Issues): void {
  const quote = market === undefined ? 'USD' : currenciesInName(market).quote;
  if (!dollars.has(quote))
    issues.add(
      path,
      `it is in dollars, and ${market} is priced in ${quote}`,
      `write "quoteQuantity": the amount in ${quote}`,
    );
}

function isPercentUnit(quantity: Field, unit: Unit | undefined): boolean {
  return isPercent(quantity) || unit === 'percent' || unit === 'percent_of_position';
}

function refuseUnit(
  quantity: Field,
  quantityType: Field | undefined,
  unit: Unit | undefined,
  issues: Issues,
): void {
  if (quantityType === undefined || (unit !== 'base' && unit !== 'quote')) return;
  issues.add(
    quantityType.path,
    `"${quantity.path}" is a per cent, but its unit is "${unit}"`,
    'keep the per cent sign or the unit',
  );
}

function percentSize(
  field: Field,
  { of }: Fields,
  shareOfUnit: Share | undefined,
  share: Share | undefined,
  issues: Issues,
): OrderSize | undefined {
  if (of !== undefined && share !== undefined && shareOfUnit !== undefined && share !== shareOfUnit)
    issues.add(of.path, `the unit of the size is a share of the ${shareOfUnit}`, 'keep one of them');
  const quantityPercent = readPercent(field, 'above one', issues);
  if (quantityPercent === undefined) return undefined;
  return { unit: 'percent', quantityPercent, of: shareOfUnit ?? share ?? 'balance' };
}

/** In alerts for the relay that has `amountPerTrade`, the unit may also be a setting that is not in the alert. */
function amountSize(
  quantity: Field,
  quantityType: Field | undefined,
  unit: Unit | undefined,
  issues: Issues,
): OrderSize | undefined {
  if (quantityType === undefined && plainWord(quantity.key) === 'amountpertrade')
    issues.add(
      quantity.path,
      'the alert does not say in which unit it is',
      'add "amountPerTradeType": "base" or "quote"',
    );
  const amount = readPositive(quantity, issues);
  if (amount === undefined || (quantityType !== undefined && unit === undefined)) return undefined;
  return unit === 'quote' ? { unit, quoteQuantity: amount } : { unit: 'base', quantity: amount };
}
