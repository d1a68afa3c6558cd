import type { Side } from '../model/order.ts';
import type { PositionName } from '../model/signal.ts';
import type { Field } from './fields.ts';
import { hintForForeignAction, plainWord } from './foreign-words.ts';
import type { Issues } from './issues.ts';
import { readWord, type Vocabulary } from './read-text.ts';

/**
 * What an alert asks for.
 *
 * @see DECISIONS 120
 */
export type Action =
  | OrderAction
  | PositionAction
  | ProtectAction
  | { readonly name: 'cancel' }
  | { readonly name: 'cancel_all' };

/** `flat` is the target of no position. */
export interface PositionAction {
  readonly name: 'close' | 'reverse' | 'target' | 'flat';
  /** The position that a close names; absent: whichever there is. */
  readonly only?: PositionName;
}

/** What protects the open position changes. */
export interface ProtectAction {
  readonly name: 'protect';
  /** The stop-loss moves to the entry price, without being named beside the action. */
  readonly toEntry?: true;
}

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
const close: PositionAction = { name: 'close' };
const exitLong: OrderAction = { ...sell, exits: 'long' };
const exitShort: OrderAction = { ...buy, exits: 'short' };
const reverse: PositionAction = { name: 'reverse' };
const flat: PositionAction = { name: 'flat' };
const protect: ProtectAction = { name: 'protect' };

/** `update_sl`, `move_stop_loss`, `set_tp`: what other relays call it. Each names what is set, and none trades. */
const protectWords: Readonly<Record<string, ProtectAction>> = {
  ...Object.fromEntries(
    ['set', 'update', 'modify', 'move', 'change', 'adjust', 'edit'].flatMap((verb) =>
      ['sl', 'stop', 'stoploss', 'tp', 'takeprofit', 'sltp', 'tpsl'].map((what) => [
        `${verb}${what}`,
        protect,
      ]),
    ),
  ),
  ...Object.fromEntries(
    ['breakeven', 'setbreakeven', 'movetobreakeven', 'movesltobreakeven', 'movestoptobreakeven'].map(
      (word) => [word, { ...protect, toEntry: true } satisfies ProtectAction],
    ),
  ),
};

/** `exit_long` is no plain sell: without a long position, a plain sell would open a short one. */
const actions: Vocabulary<Action> = {
  what: 'an action',
  words: {
    buy,
    sell,
    enterlong: { ...buy, enters: 'long' },
    entershort: { ...sell, enters: 'short' },
    exitlong: exitLong,
    closelong: exitLong,
    exitshort: exitShort,
    closeshort: exitShort,
    close,
    closeposition: close,
    exit: close,
    exitposition: close,
    closeatmarketprice: close,
    reverse,
    reverseposition: reverse,
    reversal: reverse,
    flip: reverse,
    target: { name: 'target' },
    protect,
    protectposition: protect,
    ...protectWords,
    flat,
    flatten: flat,
    cancel: { name: 'cancel' },
    cancelall: { name: 'cancel_all' },
  },
  known: [
    'buy',
    'sell',
    'enter_long',
    'enter_short',
    'exit_long',
    'exit_short',
    'close',
    'reverse',
    'target',
    'protect',
    'cancel',
    'cancel_all',
  ],
  findHint: hintForForeignAction,
};

export function readAction(field: Field, issues: Issues): Action | undefined {
  return readWord(field, actions, issues);
}

/** Whether an alert with this action may lead to an order: in it, `signalId` is another name of `id`. */
export function isPlacingAction(text: string): boolean {
  const plain = plainWord(text);
  return Object.hasOwn(actions.words, plain) && !isCancel(actions.words[plain]);
}

/** Whether a word means that what protects the open position changes. */
export function isProtectWord(text: string): boolean {
  const plain = plainWord(text);
  return Object.hasOwn(actions.words, plain) && actions.words[plain]?.name === 'protect';
}

/** Whether such a word says itself that the stop-loss moves to the entry price. */
export function movesToEntry(text: string): boolean {
  return protectWords[plainWord(text)]?.toEntry === true;
}

export function isCancel(action: Action | undefined): boolean {
  return action?.name === 'cancel' || action?.name === 'cancel_all';
}
