import { decimalOrUndefined, formatDecimal, zero } from '../base/decimal.ts';
import { marketKind } from '../orders/market.ts';
import { type Action, isCancel } from './actions.ts';
import { closeOf } from './close-of-order.ts';
import { sizeNames } from './field-table.ts';
import type { Field, FieldName, Fields } from './fields.ts';
import { plainWord } from './foreign-words.ts';
import { isZero } from './informing-fields.ts';
import { escapeText, type Issues, shortenText } from './issues.ts';
import type { JsonNode } from './parse-json.ts';
import { removeSecrets } from './remove-secrets.ts';
import { textOf } from './written-value.ts';

/** Longer values are cut. The message itself bounds how many there are. */
const mostCharacters = 256;

/** Takes out the fields that decide in other alerts, and only inform in this one. */
export function settleInforming(fields: Fields, action: Action | undefined, issues: Issues): Fields {
  if (action === undefined) return fields;
  const settled = withoutInforming(fields, action);
  // Judged by the fields that are left, as the close itself is.
  if (sizeNames.every((name) => settled[name] === undefined) && closesWhole(settled, action))
    refuseLoneVolume(settled, issues);
  return keepingEntries(settled, action);
}

/**
 * Whoever asks not to cancel the open orders means those that rest for an entry: a close cancels them otherwise.
 *
 * @see https://github.com/TradersPost/docs/blob/main/core-concepts/webhooks.md `cancel`, read 2026-11-24
 */
function keepingEntries(fields: Fields, action: Action): Fields {
  const field = fields.informing?.find(
    ({ key, node }) => plainWord(key) === 'cancel' && node.kind !== 'null',
  );
  const isPosition = action.name === 'order' ? closeOf(fields, action) !== null : !isCancel(action);
  if (field === undefined || fields.keepEntries !== undefined || !isPosition) return fields;
  return { ...fields, keepEntries: { ...field, node: { kind: 'boolean', value: true } } };
}

function withoutInforming(fields: Fields, action: Action): Fields {
  const { prevMarketPosition } = fields;
  // A price beside `update_sl` may be that of the stop-loss.
  if (isCancel(action) || action.name === 'protect')
    return prevMarketPosition === undefined ? fields : withInforming(fields, [prevMarketPosition]);
  const hasSize = sizeNames.some((name) => fields[name] !== undefined);
  const isOrder = action.name === 'order';
  const { orderId, marketPositionSize, positionSize, limitPrice } = fields;
  const names: FieldName[] = [];
  if (orderId !== undefined) names.push('orderId');
  if (isOrder && hasSize && marketPositionSize !== undefined) names.push('marketPositionSize');
  // Only TradingView's own name is sure to be that of the position after the order.
  if (isOrder && hasSize && positionSize?.isGrouped) names.push('positionSize');
  const hasLastPrice = limitPrice !== undefined && isLastPrice(fields, limitPrice, isOrder);
  if (hasLastPrice) names.push('limitPrice');
  const isTold = prevMarketPosition !== undefined;
  if (names.length === 0 && !isTold) return fields;
  const moved = names.flatMap((name) => fields[name] ?? []);
  const settled: { -readonly [Name in keyof Fields]: Fields[Name] } = {
    ...withInforming(fields, isTold ? [prevMarketPosition, ...moved] : moved),
  };
  for (const name of names) delete settled[name];
  const reference = hasLastPrice && fields.referencePrice === undefined ? positiveOf(limitPrice.node) : null;
  if (hasLastPrice && reference !== null)
    settled.referencePrice = { ...limitPrice, node: { kind: 'string', text: reference } };
  return settled;
}

function withInforming(fields: Fields, further: readonly Field[]): Fields {
  return { ...fields, informing: [...(fields.informing ?? []), ...further] };
}

/** Whether the whole position is closed when the alert has no size. */
function closesWhole(fields: Fields, action: Action): boolean {
  if (action.name === 'order') return closeOf(fields, action) !== null;
  return action.name === 'close' || action.name === 'reverse' || action.name === 'flat';
}

/**
 * Beside a market order `price` is the last price. So it is beside `sentiment`, when no kind of order is named: that is the
 * template of TradersPost, whose orders are market orders then. Zero is no limit, whatever the kind.
 *
 * @see https://github.com/TradersPost/docs/blob/main/core-concepts/webhooks.md the template, read 2026-11-23
 */
function isLastPrice(fields: Fields, { key, node }: Field, isOrder: boolean): boolean {
  const { orderType, stopPrice, sentiment } = fields;
  if (plainWord(key) !== 'price') return false;
  if (orderType === undefined && isOrder) {
    const isTradersPost = plainWord(sentiment?.key ?? '') === 'sentiment' && stopPrice === undefined;
    return isZero((textOf(node) ?? ' ').trim()) || (isTradersPost && positiveOf(node) !== null);
  }
  const word = orderType === undefined ? 'market' : plainWord(textOf(orderType.node) ?? '');
  return node.kind !== 'object' && node.kind !== 'array' && marketKind.words.includes(word);
}

function positiveOf(node: JsonNode): string | null {
  const value = decimalOrUndefined((textOf(node) ?? '').trim());
  return value?.gt(zero) === true ? formatDecimal(value) : null;
}

/** In some relays it is the size. A close without a size closes all. */
function refuseLoneVolume({ informing = [] }: Fields, issues: Issues): void {
  for (const { key, path } of informing)
    if (plainWord(key) === 'volume')
      issues.add(
        path,
        'without a size it could be the size of the order',
        'write the size as "quantity"; or, if it is the volume of a bar, write it into "extras": {…}',
      );
}

/** What is recorded: each value as text, by the key that the alert wrote. */
export function readInfo({ informing = [] }: Fields): { readonly info?: Readonly<Record<string, string>> } {
  if (informing.length === 0) return {};
  const info = informing.map(({ path, node }) => [path.replace(/^\[\d+\]\./, ''), textIn(node)]);
  return { info: Object.fromEntries(info) as Readonly<Record<string, string>> };
}

function textIn(node: JsonNode): string {
  const text = textOf(node) ?? (node.kind === 'boolean' ? String(node.value) : shortenText(node.kind));
  const isLong = text.length > mostCharacters;
  return escapeText(`${removeSecrets(isLong ? text.slice(0, mostCharacters) : text)}${isLong ? '…' : ''}`);
}
