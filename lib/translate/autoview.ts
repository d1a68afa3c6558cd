import type { MessageDraft } from './draft.ts';
import { pairsIn } from './pairs.ts';
import { applyRules, become, inTheirUnit, leave, type Rule, type Rules, translateKind } from './rules.ts';
import { isMarketWord } from './text-words.ts';

const autoviewDistance =
  (field: 'stopLoss' | 'takeProfit'): Rule =>
  (word, draft) => {
    const [, percent] = /^[+-]?(\d+(?:\.\d+)?)%$/.exec(word.value) ?? [];
    if (percent !== undefined) return draft.take(word, { [field]: `${percent}%` });
    draft.leave(word, 'is in pips there');
    draft.lack(`"${field}" as a price, or as a distance such as "2%"`);
  };

const autoviewRules: Rules = {
  e: leave('the exchange is that of relay.config.ts'),
  a: leave('the account is named in the webhook URL'),
  s: become('ticker'),
  b: (word, draft, values) => {
    const side = /^(?:buy|long|bid)$/i.test(word.value) ? 'long' : 'short';
    if (values.get('c') === 'position') draft.take(word, { action: `exit_${side}`, orderType: 'market' });
    else if (values.has('c')) draft.leave(word, 'LOST: the orders of both sides are cancelled');
    else draft.take(word, { action: side === 'long' ? 'buy' : 'sell' });
  },
  c: (word, draft, values) => {
    if (/^order/.test(word.value)) draft.take(word, { action: 'cancel_all', scope: 'market' });
    else if (!values.has('b')) draft.take(word, { action: 'close' });
    else draft.leave(word, 'the side says which position is closed');
  },
  q: (word, draft, values) => {
    if (!/^\d*\.?\d+%?$/.test(word.value) && !/^\{\{/.test(word.value)) {
      draft.leave(word, 'is a range or in another unit');
      draft.lack('one size: "quantity" in the base currency, or "quantityPercent"');
    } else if (!word.value.endsWith('%')) draft.take(word, { quantity: word.value }, inTheirUnit);
    else if (values.has('c')) draft.take(word, { quantityPercent: word.value, of: 'position' });
    else
      draft.take(
        word,
        { quantityPercent: word.value },
        'DIFFERS: what the order is worth there, its margin here; with leverage it is that many times larger',
      );
  },
  t: translateKind,
  fp: become('limitPrice'),
  p: (word, draft, values) => {
    draft.leave(word, 'is an offset from the current price, which the relay does not have');
    if (!isMarketWord(values.get('t') ?? '')) draft.lack('the price of the order: "limitPrice"');
  },
  sl: autoviewDistance('stopLoss'),
  tp: autoviewDistance('takeProfit'),
  ts: (word, draft) => {
    draft.leave(word, 'a distance in a unit that the settings there would tell');
    draft.lack('how far behind the best price the stop-loss stays, as a per cent: "trailing": "1.5%"');
  },
  l: leave('LOST: leverage is a setting of the account at the exchange'),
  ro: (word, draft) =>
    word.value === '1' ? draft.take(word, { reduceOnly: 'true' }) : draft.leave(word, 'is off'),
  d: (word, draft) => {
    draft.leave(word, 'is a test there');
    if (word.value !== '0') draft.lack('an order: d=1 sends none');
  },
};

/** @see http://www.autoview.com/syntax/ and https://autoview.com/builder/oanda/ read 2026-11-23 */
export function readAutoview(text: string): readonly MessageDraft[] {
  return text
    .split(/[\n|]/)
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const draft = applyRules(pairsIn(line, /[\s&]+/), autoviewRules);
      const { action, orderType, limitPrice } = draft.message;
      if ((action === 'buy' || action === 'sell') && orderType === undefined && limitPrice === undefined)
        draft.take(
          { name: '', value: 'without t=' },
          { orderType: 'market' },
          'DIFFERS: a limit order at the current price there',
        );
      return draft;
    });
}
