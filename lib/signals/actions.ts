import type { Side } from '../model/order.ts';
import type { Field } from './fields.ts';
import { hintForForeignAction, plainWord } from './foreign-words.ts';
import type { Issues } from './issues.ts';
import { readWord, type Vocabulary } from './read-text.ts';

export type PositionName = 'long' | 'short';

/** What an alert asks for. */
export type Action = OrderAction | { readonly name: 'cancel' } | { readonly name: 'cancel_all' };

export interface OrderAction {
  readonly name: 'order';
  readonly side: Side;
  /** The position that the alert says it opens or enlarges; null when the alert names only the side. */
  readonly enters: PositionName | null;
  /** The position that the alert says it reduces or closes; null when the alert names only the side. */
  readonly exits: PositionName | null;
}

const buy: OrderAction = { name: 'order', side: 'buy', enters: null, exits: null };
const sell: OrderAction = { name: 'order', side: 'sell', enters: null, exits: null };

/** `exit_long` is no plain sell: without a long position, a plain sell would open a short one. */
const actions: Vocabulary<Action> = {
  what: 'an action',
  words: {
    buy,
    sell,
    enterlong: { ...buy, enters: 'long' },
    entershort: { ...sell, enters: 'short' },
    exitlong: { ...sell, exits: 'long' },
    exitshort: { ...buy, exits: 'short' },
    cancel: { name: 'cancel' },
    cancelall: { name: 'cancel_all' },
  },
  known: ['buy', 'sell', 'enter_long', 'enter_short', 'exit_long', 'exit_short', 'cancel', 'cancel_all'],
  findHint: hintForForeignAction,
};

export function readAction(field: Field, issues: Issues): Action | undefined {
  return readWord(field, actions, issues);
}

/** Whether an alert with this action places an order. */
export function isOrderAction(text: string): boolean {
  const plain = plainWord(text);
  return Object.hasOwn(actions.words, plain) && actions.words[plain]?.name === 'order';
}
