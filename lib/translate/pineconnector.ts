import type { MessageDraft } from './draft.ts';
import type { OwnMessage } from './own-message.ts';
import { pairsIn } from './pairs.ts';
import { applyRules, become, type Rule, type Rules, wholePosition } from './rules.ts';

const inLots: Rule = (word, draft) => {
  draft.leave(word, 'is in lots, in money or a share at risk, by the settings there');
};

const pineActions: ReadonlyMap<string, OwnMessage> = new Map<string, OwnMessage>([
  ...['buy', 'long', 'bull', 'bullish'].map(
    (word) => [word, { action: 'buy', orderType: 'market' }] as const,
  ),
  ...['sell', 'short', 'bear', 'bearish'].map(
    (word) => [word, { action: 'sell', orderType: 'market' }] as const,
  ),
  ['buylimit', { action: 'buy', orderType: 'limit' }],
  ['selllimit', { action: 'sell', orderType: 'limit' }],
  ['buystop', { action: 'buy', orderType: 'stop_market' }],
  ['sellstop', { action: 'sell', orderType: 'stop_market' }],
  ['closelong', { action: 'exit_long', orderType: 'market', ...wholePosition }],
  ['closeshort', { action: 'exit_short', orderType: 'market', ...wholePosition }],
  ['closelongshort', { action: 'close' }],
  ['cancellong', { action: 'cancel_all', scope: 'market' }],
  ['cancelshort', { action: 'cancel_all', scope: 'market' }],
]);

/** A distance in an unknown unit would be another stop-loss. */
const pineDistance: Rule = (word, draft) => {
  draft.leave(word, 'pips, a price or a per cent, by the settings there');
  draft.lack(
    `"${word.name.startsWith('sl') ? 'stopLoss' : 'takeProfit'}" as a price, or as a distance such as "2%"`,
  );
};
const pineRules: Rules = {
  risk: inLots,
  vollots: inLots,
  voldollar: inLots,
  sl: pineDistance,
  tp: pineDistance,
  slpips: pineDistance,
  tppips: pineDistance,
  slpct: (word, draft) => draft.take(word, { stopLoss: `${word.value}%` }),
  tppct: (word, draft) => draft.take(word, { takeProfit: `${word.value}%` }),
  slprice: become('stopLoss'),
  tpprice: become('takeProfit'),
  price: (word, draft) => {
    draft.leave(word, 'pips or a price, by the settings there');
    draft.lack('the price of the order: "limitPrice", or for a stop order "stopPrice"');
  },
};

/** @see https://docs.pineconnector.com/syntax read 2026-11-23 */
export function readPineConnector(text: string): readonly MessageDraft[] {
  const [license = '', command = '', symbol = '', ...others] = text.trim().split(/\s*,\s*/);
  const draft = applyRules(pairsIn(others.join(','), /,/), pineRules);
  draft.hide({ name: 'license id', value: license });
  const own = pineActions.get(command.toLowerCase());
  const word = { name: '', value: command };
  if (own === undefined) {
    draft.leave(word, 'has no counterpart');
    draft.lack('an "action": "buy", "sell", "exit_long", "exit_short", "close" or "cancel_all"');
  } else draft.take(word, own, command.startsWith('cancel') ? 'cancels the orders of both sides' : '');
  draft.take({ name: '', value: symbol }, { ticker: symbol });
  if (own?.action === 'buy' || own?.action === 'sell')
    draft.lack('the size: "quantity" in the base currency; lots and risk depend on settings there');
  return [draft];
}
