import type { FieldName } from '../signals/fields.ts';
import type { Token } from './text-amounts.ts';
import {
  fieldNamed,
  isExitWord,
  isLimitWord,
  isMarketWord,
  isOffWord,
  kindOf,
  seriesIn,
} from './text-words.ts';

/** These hold free text: it is not repeated, because it may be anything. */
export const freeTexts: ReadonlySet<FieldName> = new Set<FieldName>([
  'time',
  'maxLag',
  'id',
  'signalId',
  'orderId',
  'clientOrderId',
  'comment',
  'strategy',
  'interval',
  'extras',
]);

/** `limit`, `type=limit`, `type=stop_limit` */
export function isLimitToken({ name, value }: Token): boolean {
  if (name === null) return isLimitWord(value);
  return fieldNamed(name) === 'orderType' && /limit$/.test(kindOf(value) ?? '');
}

/** Whether the text says `market`, and has no exits, which would last until the end of the day, too. */
export function isPlainMarketOrder(tokens: readonly Token[]): boolean {
  const isMarket = ({ name, value }: Token) =>
    (name === null || fieldNamed(name) === 'orderType') && isMarketWord(value);
  return tokens.some(isMarket) && !tokens.some(({ name, value }) => isExitWord(name ?? value));
}

/** What a token calls a series of orders; undefined when it means none, or says that it is off. */
export function seriesOf({ name, value }: Token): string | undefined {
  return name !== null && value !== '' && isOffWord(value) ? undefined : seriesIn(name ?? value);
}
