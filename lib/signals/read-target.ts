import { decimalOrUndefined, zero } from '../base/decimal.ts';
import type { PositionState, PositionTarget } from '../model/signal.ts';
import type { PositionAction } from './actions.ts';
import { sizeNames } from './field-table.ts';
import type { Field, FieldName, Fields } from './fields.ts';
import { plainWord } from './foreign-words.ts';
import { type Issues, quoteText } from './issues.ts';
import { isPercent, readPercent, readPositive } from './read-number.ts';
import { positionStates } from './read-reduction.ts';
import { readWord } from './read-text.ts';
import { textOf } from './written-value.ts';

/** The fields that state a wanted position as a whole. */
const wholeNames = ['target', 'targetQuote', 'positionSize'] as const;
/** The fields that state how large the position is that `sentiment` names. */
const targetSizeNames = ['marketPositionSize', ...sizeNames] as const;
/** The fields that only targets have. */
export const targetFields = ['target', 'targetQuote', 'marketPositionSize', 'positionSize'] as const;

const flat: PositionTarget = { unit: 'flat' };

/** Whether an alert without an action states the position that it wants. */
export function impliesTarget(fields: Fields): boolean {
  return (['sentiment', ...targetFields] as const satisfies readonly FieldName[]).some(
    (name) => fields[name] !== undefined,
  );
}

/**
 * Reads the wanted position. A flat one is closed in full, whatever size the alert gives beside it; statements that
 * contradict each other are validation issues.
 *
 * @param prefix the signal's position in an array, for example `[1].`; empty for a single signal
 */
export function readTarget(
  fields: Fields,
  { name }: PositionAction,
  prefix: string,
  issues: Issues,
): PositionTarget | undefined {
  const word = fields.sentiment && readWord(fields.sentiment, positionStates, issues);
  if (fields.sentiment !== undefined && word === undefined) return undefined;
  const state = name === 'flat' ? 'flat' : word;
  if (name === 'flat' && word !== undefined && word !== 'flat')
    return refuseWord(fields, 'the action is flat', issues);
  const [first, second] = wholeNames.flatMap((whole) => fields[whole] ?? []);
  // `{{strategy.position_size}}` beside the word flat is a size as any other: the position is closed in full.
  if (state === 'flat' && fields.target === undefined && fields.targetQuote === undefined) return flat;
  if (first === undefined) return readSizeOf(state, fields, prefix, issues);
  const other = second ?? targetSizeNames.flatMap((size) => fields[size] ?? [])[0];
  const target = readWhole(fields, issues);
  if (target === undefined) return undefined;
  if (other !== undefined && target.unit !== 'flat')
    return issues.add(
      other.path,
      `"${first.key}" states the whole position already`,
      `keep one of ${[...wholeNames, ...targetSizeNames].join(', ')}`,
    );
  if (state !== undefined && state !== stateOf(target))
    return refuseWord(
      fields,
      `${quoteText(first.path)} asks for ${articled(stateOf(target))} position`,
      issues,
    );
  return target;
}

/** Reads the fields that only targets have, only to report their validation issues. */
export function checkTargetFields(fields: Fields, issues: Issues): void {
  readWhole(fields, issues);
  if (fields.marketPositionSize !== undefined) readSigned(fields.marketPositionSize, issues);
}

function refuseWord({ sentiment, action }: Fields, reason: string, issues: Issues): undefined {
  return issues.add(
    (sentiment ?? action)?.path ?? '',
    `it contradicts the rest of the alert: ${reason}`,
    'correct one of them, or remove one',
  );
}

function articled(state: PositionState): string {
  return state === 'flat' ? 'no' : `a ${state}`;
}

/** The position that a target is. */
export function stateOf(target: PositionTarget): PositionState {
  switch (target.unit) {
    case 'flat':
      return 'flat';
    case 'base':
      return nameOf(target.quantity);
    case 'quote':
      return nameOf(target.quoteQuantity);
    case 'percent':
      return nameOf(target.percentOfEquity);
  }
}

function nameOf(signed: string): PositionState {
  return signed.startsWith('-') ? 'short' : 'long';
}

function readWhole(
  { target, targetQuote, positionSize }: Fields,
  issues: Issues,
): PositionTarget | undefined {
  if (target !== undefined) return readGivenTarget(target, issues);
  const quote = targetQuote && readSigned(targetQuote, issues);
  if (quote !== undefined) return quote === '0' ? flat : { unit: 'quote', quoteQuantity: quote };
  const base = positionSize && readSigned(positionSize, issues);
  if (base === undefined) return undefined;
  return base === '0' ? flat : { unit: 'base', quantity: base };
}

/** A signed amount in the base currency, a signed per cent of the equity, or `flat`. */
function readGivenTarget(field: Field, issues: Issues): PositionTarget | undefined {
  if (field.node.kind === 'string' && plainWord(field.node.text) === 'flat') return flat;
  if (isPercent(field)) return readShare(field, issues);
  const base = readSigned(field, issues);
  if (base === undefined) return undefined;
  return base === '0' ? flat : { unit: 'base', quantity: base };
}

function readShare(field: Field, issues: Issues): PositionTarget | undefined {
  const { isNegative, unsigned } = splitSign(field);
  if (decimalOrUndefined((textOf(unsigned.node) ?? '').replace('%', ''))?.eq(zero) === true) return flat;
  const share = readPercent(unsigned, 'nothing', issues);
  return share && { unit: 'percent', percentOfEquity: isNegative ? `-${share}` : share };
}

/** Reads a decimal of either sign. @returns `0` for zero */
function readSigned(field: Field, issues: Issues): string | undefined {
  const { isNegative, unsigned } = splitSign(field);
  if (decimalOrUndefined((textOf(unsigned.node) ?? '').trim())?.eq(zero) === true) return '0';
  const digits = readPositive(unsigned, issues);
  return digits && (isNegative ? `-${digits}` : digits);
}

/** A second sign stays, and is refused. */
function splitSign(field: Field): { readonly isNegative: boolean; readonly unsigned: Field } {
  const text = textOf(field.node)?.trim() ?? '';
  if (!text.startsWith('-')) return { isNegative: false, unsigned: field };
  return { isNegative: true, unsigned: { ...field, node: { kind: 'string', text: text.slice(1) } } };
}

/** The size of the position that `sentiment` names. */
function readSizeOf(
  state: PositionState | undefined,
  fields: Fields,
  prefix: string,
  issues: Issues,
): PositionTarget | undefined {
  const [first, second] = targetSizeNames.flatMap((name) => fields[name] ?? []);
  if (state === undefined)
    return issues.add(
      `${prefix}target`,
      'the alert does not say which position it wants',
      'add "target": a signed amount in the base currency, a per cent of the equity such as "-50%", or "flat"; or "marketPosition": "{{strategy.market_position}}" with "marketPositionSize": "{{strategy.market_position_size}}"',
    );
  if (first === undefined)
    return issues.add(
      `${prefix}marketPositionSize`,
      `the alert wants a ${state} position and does not say how large`,
      'add "marketPositionSize": "{{strategy.market_position_size}}", or write "positionSize": "{{strategy.position_size}}" instead of both',
    );
  if (second !== undefined)
    return issues.add(
      second.path,
      'the size is given more than once',
      `keep one of ${targetSizeNames.join(', ')}`,
    );
  return readAmountOf(state === 'short' ? '-' : '', fields, first, issues);
}

function readAmountOf(
  sign: '-' | '',
  { sentiment, quantity, quoteQuantity, quantityPercent, marketPositionSize }: Fields,
  size: Field,
  issues: Issues,
): PositionTarget | undefined {
  if (quantityPercent !== undefined || isPercent(size))
    return issues.add(
      size.path,
      'a per cent here could be a share of the position, of the balance or of the equity',
      'write "target": "50%" (below zero for a short position) for a share of the equity',
    );
  // `{{strategy.order.contracts}}` is the size of an order, and after a reversal larger than the position.
  if (marketPositionSize === undefined && plainWord(sentiment?.key ?? '') === 'marketposition')
    return issues.add(
      size.path,
      'it is the size of an order, and "marketPosition" needs that of the position',
      'write "marketPositionSize": "{{strategy.market_position_size}}" instead',
    );
  const field = quoteQuantity ?? quantity ?? marketPositionSize;
  const digits = field && readPositive(field, issues);
  if (digits === undefined) return undefined;
  if (quoteQuantity !== undefined) return { unit: 'quote', quoteQuantity: `${sign}${digits}` };
  return { unit: 'base', quantity: `${sign}${digits}` };
}
