import { isProtectWord, movesToEntry } from '../signals/actions.ts';
import type { FieldName } from '../signals/fields.ts';
import { hintForForeignField, plainWord } from '../signals/foreign-words.ts';
import { judgeInforming } from '../signals/informing-fields.ts';
import { createDraft, isSecretName, type MessageDraft, type Word } from './draft.ts';
import { isOfTargets, takeTargets } from './targets.ts';
import {
  actionOf,
  isBystander,
  isLimitWord,
  isOffWord,
  isProtective,
  isSetting,
  kindOf,
} from './text-words.ts';

/** The values of a message by their names in lower case, without dashes and underscores: `order.amount`. */
export type Values = ReadonlyMap<string, string>;
/** What a name of another relay becomes. */
export type Rule = (word: Word, draft: MessageDraft, values: Values) => void;
export type Rules = Readonly<Record<string, Rule>>;

/** The value under another name. */
export function become(field: FieldName, note = ''): Rule {
  return (word, draft) => draft.take(word, { [field]: word.value }, note);
}

export function leave(note: string): Rule {
  return (word, draft) => draft.leave(word, note);
}

/** Where 0 or an empty text stands for no value. */
export function unlessZero(rule: Rule): Rule {
  return (word, draft, values) =>
    Number(word.value) === 0 || word.value === ''
      ? draft.leave(word, 'means no value')
      : rule(word, draft, values);
}

/** Of an amount whose unit the message does not name. */
export const inTheirUnit = 'in the unit of the exchange there, in the base currency here';

/** A flag that is left out where it is false. */
export function flag(field: FieldName): Rule {
  return (word, draft) =>
    /^(?:true|1|yes|on)$/i.test(word.value)
      ? draft.take(word, { [field]: 'true' })
      : draft.leave(word, 'is off');
}

const onlyInforms = leave('only informs: it changes nothing about the order');

/** What an action of another relay is here. */
export const translateAction: Rule = (word, draft) => {
  const plain = plainWord(word.value);
  const own = actionOf(word.value);
  if (plain === 'cancel' || plain === 'cancelall')
    draft.take(word, { action: 'cancel_all', scope: 'market' }, 'cancels every open order of the market');
  else if (plain === 'exitlong' || plain === 'exitshort')
    draft.take(word, { action: own ?? '' }, 'only reduces the position');
  else if (own !== undefined) draft.take(word, { action: own });
  else if (isProtectWord(word.value))
    draft.take(
      word,
      { action: 'protect', ...(movesToEntry(word.value) ? { stopLoss: 'entry' } : {}) },
      'changes what protects the open position',
    );
  else if (/^\{\{.*\}\}$/.test(word.value)) {
    draft.leave(word, 'is no action');
    draft.lack('an "action": of TradingView\'s placeholders only {{strategy.order.action}} is one');
  } else {
    draft.leave(word, 'has no counterpart');
    draft.lack('an "action": "buy", "sell", "exit_long", "exit_short", "close", "reverse" or "cancel_all"');
  }
};

const kindOfTheirs: ReadonlyMap<string, string> = new Map([
  ['stop', 'stop_market'],
  ['sl', 'stop_limit'],
  ['slm', 'stop_market'],
]);

/** What an order type of another relay is here. */
export const translateKind: Rule = (word, draft) => {
  const kind = kindOf(word.value) ?? kindOfTheirs.get(plainWord(word.value));
  if (kind !== undefined) draft.take(word, { orderType: kind });
  else {
    draft.leave(word, 'is no kind of order here');
    draft.lack('an "orderType": "market", "limit", "stop_limit" or "stop_market"');
  }
};

const readTimeInForce: Rule = (word, draft) => {
  const plain = plainWord(word.value);
  if (plain === 'ioc') draft.take(word, { ioc: 'true' });
  else if (/^(?:fok|fillorkill)$/.test(plain))
    draft.take(word, { ioc: 'true' }, 'LOST: it may fill in part; the rest is cancelled');
  else if (plain === 'gtc') draft.leave(word, 'every order is that');
  else draft.leave(word, 'LOST: no order expires here; send a "cancel" when it is no longer wanted');
};

const strategyText = /^\{\{strategy\.order\.(?:id|comment)\}\}$/;

/** Free text of the user is kept where it is a placeholder or short words. */
export function keepText(field: 'comment' | 'strategy'): Rule {
  return (word, draft) =>
    strategyText.test(word.value) || /^[A-Za-z][A-Za-z _-]{0,40}$/.test(word.value)
      ? draft.take(word, { [field]: word.value })
      : draft.leave(word, `left out: write it as "${field}" if you need it`);
}

/** Names that mean the same in most messages. */
const usualRules: Rules = {
  ticker: become('ticker'),
  symbol: become('ticker'),
  pair: become('ticker'),
  instrument: become('ticker'),
  tvinstrument: become('ticker'),
  action: translateAction,
  side: translateAction,
  orderaction: translateAction,
  ordertype: translateKind,
  type: translateKind,
  pricetype: translateKind,
  quantity: become('quantity'),
  qty: become('quantity'),
  contracts: become('quantity'),
  amount: become('quantity'),
  ordercontracts: become('quantity'),
  limitprice: become('limitPrice'),
  stopprice: become('stopPrice'),
  signalprice: become('referencePrice'),
  orderprice: become('referencePrice', 'the fills are compared with it'),
  stoploss: become('stopLoss'),
  takeprofit: become('takeProfit'),
  trailing: become('trailing'),
  reduceonly: flag('reduceOnly'),
  postonly: flag('postOnly'),
  timeinforce: readTimeInForce,
  tif: readTimeInForce,
  sentiment: become('sentiment'),
  strategy: keepText('strategy'),
  comment: keepText('comment'),
  orderid: keepText('comment'),
  time: leave('"time": "{{timenow}}" stands for it'),
  timestamp: leave('"time": "{{timenow}}" stands for it'),
  timenow: leave('"time": "{{timenow}}" stands for it'),
  price: (word, draft, values) =>
    isLimitWord(values.get('ordertype') ?? values.get('type') ?? '')
      ? draft.take(word, { limitPrice: word.value })
      : draft.take(
          word,
          { referencePrice: word.value },
          'the last price there: the fills are compared with it',
        ),
  leverage: leave('LOST: leverage is a setting of the account at the exchange'),
};

const planned = /^(?:dca|grid|safetyorder|averaging)/;

/** What has no counterpart. What protects a position, and plans of many orders, keep the message from being translated. */
function refuse(word: Word, plain: string, draft: MessageDraft): void {
  const shown = { name: word.name, value: /^[\d.%-]{1,12}$/.test(word.value) ? word.value : '…' };
  if (isOffWord(word.value) && !(word.value === '' && planned.test(plain))) draft.leave(shown, 'is off');
  else if (isProtective(plain)) {
    draft.leave(shown, 'does not exist in this form');
    draft.lack(
      'the protection in the words of this relay: "stopLoss", a price or a distance such as "2%", or "trailing": "1.5%"; to move it later send "action": "protect"',
    );
  } else if (planned.test(plain)) {
    draft.leave(shown, 'does not exist here');
    draft.lack('each order as an alert of its own: DCA and grids do not exist here');
  } else {
    draft.leave(shown, lossOf(plain));
    // A misspelt stop or flag must not be left out of the message.
    if (!isHarmless(plain, word.value))
      draft.lack(
        `a message without "${word.name}", which could change the order and has no counterpart here`,
        'a message without a value that could change the order and has no counterpart here',
      );
  }
}

/** Whether nothing about the order is lost without it. */
function isHarmless(plain: string, value: string): boolean {
  const name = plain.slice(plain.lastIndexOf('.') + 1);
  if (isBystander(name) || isSetting(name)) return true;
  return judgeInforming(name, { kind: 'string', text: value }, true) !== 'no';
}

function lossOf(plain: string): string {
  const hint = hintForForeignField(plain.slice(plain.lastIndexOf('.') + 1));
  return hint === undefined ? unknownNote : `LOST: ${hint}`;
}

const unknownNote = 'LOST: the relay has nothing of that name';

/** Applies the rule of each value; a secret is never taken over. */
export function applyRules(words: readonly Word[], rules: Rules): MessageDraft {
  const draft = createDraft();
  const values: Values = new Map(words.map(({ name, value }) => [plainWord(name), value]));
  for (const word of words) {
    if (isOfTargets(word)) continue;
    const plain = plainWord(word.name);
    const rule = Object.hasOwn(rules, plain) ? rules[plain] : undefined;
    if (rule !== undefined) rule(word, draft, values);
    else if (isSecretName(word.name)) draft.hide(word);
    else if (Object.hasOwn(usualRules, plain)) usualRules[plain]?.(word, draft, values);
    else if (isBystander(plain) || /^(?:bar\.|extras\.|.*prev(?:market)?position|tv)/.test(plain))
      onlyInforms(word, draft, values);
    else refuse(word, plain, draft);
  }
  takeTargets(words.filter(isOfTargets), draft);
  return draft;
}
