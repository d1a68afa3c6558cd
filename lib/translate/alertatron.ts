import { plainWord } from '../signals/foreign-words.ts';
import type { MessageDraft } from './draft.ts';
import { pairsIn } from './pairs.ts';
import { applyRules, flag, inTheirUnit, leave, type Rule, translateAction } from './rules.ts';
import { isLimitWord, isMarketWord } from './text-words.ts';

const alertatronAmount: Rule = (word, draft) => {
  const [, number, unit = ''] = /^(\d*\.?\d+|\{\{[\w.]+\}\})(%%|%[abp]?)?$/.exec(word.value) ?? [];
  if (number === undefined) {
    draft.leave(word, 'is no size');
    draft.lack('a size: "quantity" in the base currency, or "quantityPercent"');
  } else if (unit === '%p') draft.take(word, { quantityPercent: `${number}%`, of: 'position' });
  else if (unit !== '')
    draft.take(
      word,
      { quantityPercent: `${number}%` },
      unit === '%%' || unit === '%a'
        ? 'DIFFERS: what the order is worth there, its margin here; with leverage it is that many times larger'
        : 'DIFFERS: a share of the whole balance there, of what is free here',
    );
  else draft.take(word, { quantity: number }, inTheirUnit);
};

function alertatronPrice(field: 'limitPrice' | 'stopPrice'): Rule {
  return (word, draft) => {
    const [, price] = /^@(\d*\.?\d+|\{\{[\w.]+\}\})$/.exec(word.value) ?? [];
    if (price !== undefined) return draft.take(word, { [field]: price });
    draft.leave(word, 'is an offset from the current price, which the relay does not have');
    draft.lack(`the "${field}": a price`);
  };
}

const position: Rule = (word, draft) => {
  if (word.value === '0') draft.take(word, { action: 'close' }, 'the position becomes flat');
  else if (/^-?\d*\.?\d+$/.test(word.value)) draft.take(word, { action: 'target', target: word.value });
  else {
    draft.leave(word, 'is a position that depends on another');
    draft.lack('the position as an amount: "target"');
  }
};

/** Only a plain "false" lets an order open a position. */
const reduceOnlyOrNot: Rule = (word, draft, values) => {
  if (/^(?:true|false)$/i.test(word.value)) return flag('reduceOnly')(word, draft, values);
  draft.leave(word, 'is neither true nor false');
  draft.lack('whether the order only reduces: "reduceOnly"');
};

/** Commands of Alertatron, and the kind of order that each one places. */
const alertatronKinds: Readonly<Record<string, string>> = {
  market: 'market',
  limit: 'limit',
  stoporder: 'stop_market',
  stopmarket: 'stop_market',
  stoplimit: 'stop_limit',
};

/** There a stop order only reduces unless it says otherwise, and one with `limitOffset` is a stop-limit order. */
function completeStop(draft: MessageDraft, orderType: string, names: ReadonlySet<string>): string {
  if (!/^stop_/.test(orderType)) return orderType;
  if (!names.has('reduceonly'))
    draft.take({ name: '', value: 'reduceOnly' }, { reduceOnly: 'true' }, 'a stop order there only reduces');
  if (names.has('limitoffset')) return 'stop_limit';
  if (/_limit$/.test(orderType)) draft.lack('the "limitPrice": a price');
  return orderType;
}

/** @see https://alertatron.com/docs/automated-trading/market-order, limit-order and stop-order, read 2026-11-23 */
export function readAlertatron(text: string): readonly MessageDraft[] {
  return [...text.matchAll(/([\w-]+)\(([^()]*)\)\s*\{([^{}]*(?:\{\{[^{}]*\}\}[^{}]*)*)\}/g)].flatMap(
    ([, keys = '', symbol = '', block = '']) =>
      [...block.matchAll(/(\w+)\(([^()]*)\)/g)].map(([, command = '', given = '']) => {
        const plain = command.toLowerCase();
        const pairs = pairsIn(given, /,/);
        const draft = applyRules(pairs, {
          side: translateAction,
          amount: alertatronAmount,
          position,
          offset: alertatronPrice(isLimitWord(plain) ? 'limitPrice' : 'stopPrice'),
          limitoffset: alertatronPrice('limitPrice'),
          reduceonly: reduceOnlyOrNot,
          tag: leave('LOST: an order is named by the "id" of its alert'),
          which: leave('every open order of the market is cancelled'),
        });
        draft.hide({ name: 'keys', value: keys });
        draft.take({ name: '', value: symbol }, { ticker: symbol.trim() });
        const orderType = alertatronKinds[plain];
        const word = { name: '', value: command };
        const isPosition = draft.message.action === 'close' || draft.message.action === 'target';
        if (plain === 'cancel') draft.take(word, { action: 'cancel_all', scope: 'market' });
        else if (orderType === undefined) {
          draft.leave(word, 'has no counterpart');
          draft.lack(
            `what "${/^[a-z]{1,24}$/i.test(command) ? command : '…'}" does: orders here are market, limit and stop orders`,
            'what one of its commands does: orders here are market, limit and stop orders',
          );
        } else if (!isPosition)
          draft.take(word, {
            orderType: completeStop(draft, orderType, new Set(pairs.map(({ name }) => plainWord(name)))),
            action: draft.message.action ?? 'buy',
          });
        else if (isMarketWord(orderType)) draft.leave(word, 'a position is reached at market');
        else draft.lack('the size and the side: a position is reached at market here');
        return draft;
      }),
  );
}
