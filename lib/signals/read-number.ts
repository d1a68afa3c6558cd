import {
  type Decimal,
  decimalOrUndefined,
  formatDecimal,
  hundred,
  one,
  parseDecimal,
  zero,
} from '../base/decimal.ts';
import type { DecimalText, PercentText } from '../model/signal.ts';
import type { Field } from './fields.ts';
import { type Issues, quoteText, shortenText } from './issues.ts';
import type { JsonNode } from './parse-json.ts';
import { describe, isPlaceholder, placeholderHint, textOf } from './written-value.ts';

interface Misuse {
  readonly pattern: RegExp;
  readonly message: string;
  readonly hint: string;
}

const numberOfAnySize = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const plainNumber = 'write the number in digits, with a point before decimals';
const loneNumber = 'this field takes one number: let the script calculate it';

/** What alerts contain instead of a number, and why it is refused. */
const misuses: readonly Misuse[] = [
  {
    pattern: /^$/,
    message: 'is empty',
    hint: 'TradingView filled the placeholder with nothing; correct the script, or leave the line out if it is optional',
  },
  {
    pattern: /^(?:nan|none|null|nil|na|undefined)$/i,
    message: 'means that there is no value',
    hint: 'correct the script, or leave the line out if it is optional',
  },
  {
    pattern: /^[+-]?inf(?:inity)?$/i,
    message: 'is infinite',
    hint: 'correct the division by zero in the script',
  },
  { pattern: /^(?:true|false)$/i, message: 'is true or false', hint: plainNumber },
  {
    pattern: /%[%a-z]$/i,
    message: 'is a per cent in the notation of another relay',
    hint: 'a per cent has one sign, for example "2%", and may stand in "quantity", "quantityPercent", "maxSlippage", "stopLoss" and "takeProfit"; "of" says what a size is a share of: "balance" or "position"',
  },
  {
    pattern: /%$/,
    message: 'is a per cent',
    hint: 'this field takes a number; per cents belong into "quantity", "quantityPercent", "maxSlippage", "stopLoss" and "takeProfit"',
  },
  { pattern: /^[+-]?0[xob][0-9a-f]+$/i, message: 'is not decimal', hint: plainNumber },
  {
    pattern: /^[+-]?\d{1,3}(?:[,' \u00a0\u202f_]\d{3})+(?:\.\d+)?$/,
    message: 'has separators between its digits',
    hint: 'leave thousands separators out, and write a point before decimals: 1234.5',
  },
  {
    pattern: /^[+-]?\d*(?:\.\d{3})*,\d+$/,
    message: 'has a decimal comma',
    hint: 'write a point before decimals: 1234.5',
  },
];

const secondsInDay = parseDecimal('86400');
export const millisecondsInSecond = parseDecimal('1000');

/**
 * Reads a positive decimal from a JSON number or from text. The result is in plain notation and keeps every
 * digit.
 */
export function readPositive(field: Field, issues: Issues): DecimalText | undefined {
  const value = readDecimal(field, issues);
  return value === undefined ? undefined : formatDecimal(value);
}

/** Whether a value is written as a per cent: `"5%"`. */
export function isPercent({ node }: Field): boolean {
  return node.kind === 'string' && /[^%]%\s*$/.test(node.text);
}

/**
 * What a number without a per cent sign means where a per cent is read. `percent`: a per cent, whatever its size.
 * `above one`: a per cent, if it is too large to be meant as a ratio. `nothing`: it is refused.
 */
export type BareNumber = 'percent' | 'above one' | 'nothing';

/** Reads a per cent, more than 0 and at most 100. */
export function readPercent(field: Field, bare: BareNumber, issues: Issues): PercentText | undefined {
  const hasSign = isPercent(field);
  const text = (textOf(field.node) ?? '').trim();
  const number = hasSign ? text.slice(0, -1) : text;
  const value = readDecimal(hasSign ? { ...field, node: { kind: 'string', text: number } } : field, issues);
  if (value === undefined) return undefined;
  const digits = formatDecimal(value);
  if (!hasSign && (bare === 'nothing' || (bare === 'above one' && value.lte(one))))
    return issues.add(
      field.path,
      `${quoteText(text)} has no per cent sign, so it could be a per cent or a ratio`,
      `write "${shortenText(digits)}%" or "${shortenText(formatDecimal(value.times(hundred)))}%", whichever you mean`,
    );
  if (value.lte(hundred)) return `${digits}%`;
  return issues.add(field.path, `${quoteText(text)} is more than 100%`, 'write at most 100%');
}

/**
 * Reads how old the alert may be.
 *
 * @param field seconds, more than 0 and at most a day
 * @returns whole milliseconds
 */
export function readMaxLagMs(field: Field, issues: Issues): number | undefined {
  const seconds = readDecimal(field, issues);
  if (seconds === undefined) return undefined;
  const maxLagMs = Number(formatDecimal(seconds.times(millisecondsInSecond).round(0, 0)));
  if (maxLagMs >= 1 && seconds.lte(secondsInDay)) return maxLagMs;
  return issues.add(
    field.path,
    `${shortenText(formatDecimal(seconds))} s is out of range`,
    'write seconds, from 0.001 to 86400 (a day)',
  );
}

/** Reads the order id of the exchange: a positive whole number, from a JSON number or from digits. */
export function readOrderId(field: Field, issues: Issues): number | undefined {
  const text = textOf(field.node)?.trim();
  const orderId = text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (orderId > 0 && Number.isSafeInteger(orderId)) return orderId;
  return issues.add(
    field.path,
    `${describe(field.node)} is not an order id of the exchange`,
    isPlaceholder(text ?? '')
      ? placeholderHint
      : 'write the order id that the exchange assigned, a whole number, for example 3686033640',
  );
}

function readDecimal(field: Field, issues: Issues): Decimal | undefined {
  const text = textOf(field.node)?.trim();
  if (text === undefined)
    return issues.add(field.path, `${describe(field.node)} is not a number`, hintForKind(field.node));
  const value = decimalOrUndefined(text);
  if (value === undefined) return refuseText(text, field.path, issues);
  if (value.gt(zero)) return value;
  return value.eq(zero)
    ? issues.add(
        field.path,
        `${quoteText(text)} is zero`,
        'write a number above zero, or leave the line out if it is optional',
      )
    : issues.add(
        field.path,
        `${quoteText(text)} is negative`,
        'write a number above zero; "action" sets the direction',
      );
}

function refuseText(text: string, path: string, issues: Issues): undefined {
  if (isPlaceholder(text))
    return issues.add(path, `${quoteText(text)} is a placeholder, not a number`, placeholderHint);
  const misuse = misuses.find(({ pattern }) => pattern.test(text));
  if (misuse !== undefined) return issues.add(path, `${quoteText(text)} ${misuse.message}`, misuse.hint);
  if (numberOfAnySize.test(text))
    return issues.add(
      path,
      `${quoteText(text)} is too large, too small or too long for any market`,
      'write at most 64 characters, between 1e-40 and 1e40',
    );
  return issues.add(path, `${quoteText(text)} is not a number`, plainNumber);
}

function hintForKind(node: JsonNode): string {
  if (node.kind === 'object' || node.kind === 'array') return loneNumber;
  return node.kind === 'null' ? 'correct the script, or leave the line out if it is optional' : plainNumber;
}
