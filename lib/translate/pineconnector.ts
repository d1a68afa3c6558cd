import type { MessageDraft } from './draft.ts';
import type { OwnMessage } from './own-message.ts';
import { pairsIn } from './pairs.ts';
import { applyRules, become, leave, type Rule, type Rules } from './rules.ts';

const inLots: Rule = (word, draft) => {
  draft.leave(word, 'is in lots, in money or a share at risk, by the settings there');
  draft.lack(sizeInLots);
};
const sizeInLots = 'the size: "quantity" in the base currency; lots and risk depend on settings there';

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
  ['closelong', { action: 'exit_long', orderType: 'market' }],
  ['closeshort', { action: 'exit_short', orderType: 'market' }],
  ['closelongshort', { action: 'close' }],
  ['newsltplong', { action: 'protect' }],
  ['newsltpshort', { action: 'protect' }],
]);

/** Commands that place and close nothing, and what to send or to do instead. */
const untold: readonly (readonly [commands: RegExp, instead: string])[] = [
  [
    /^cancel(?:long|short)$/,
    'which order to cancel: "cancel" names one by the "id" of its alert, "cancel_all" cancels the orders of both sides, not of one',
  ],
  [/^ea(?:on|off)$/, 'an order: no alert pauses the relay; `npx relay pause` and `npx relay resume` do'],
  [/^close(?:all|alllong|allshort)$/, 'a market: write "action": "close" with the ticker of each market'],
  [/^(?:close|exit)/, 'how much to close: "quantity", or "quantityPercent" with "of": "position"'],
];

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

/** What the values beside a command that is not known mean, only the command would tell. */
const unknownRules: Rules = Object.fromEntries(
  Object.keys(pineRules).map((name) => [name, leave('belongs to the command')]),
);

/** From which price the distance of a new stop-loss counts, only the settings there would tell. */
const protectRules: Rules = { ...pineRules, slpct: pineDistance, tppct: pineDistance };

function rulesFor(own: OwnMessage | undefined): Rules {
  if (own === undefined) return unknownRules;
  return own.action === 'protect' ? protectRules : pineRules;
}

/** @see https://docs.pineconnector.com/syntax read 2026-11-23 */
export function readPineConnector(text: string): readonly [MessageDraft] {
  const [license = '', given = '', symbol = '', ...others] = text.trim().split(/\s*,\s*/);
  const command = given.toLowerCase();
  const own = pineActions.get(command);
  const draft = applyRules(pairsIn(others.join(','), /,/), rulesFor(own));
  draft.hide({ name: 'license id', value: license });
  const word = { name: '', value: given };
  if (own === undefined) {
    draft.leave(word, 'has no counterpart');
    draft.lack(
      untold.find(([commands]) => commands.test(command))?.[1] ??
        'an "action": "buy", "sell", "exit_long", "exit_short", "close" or "cancel_all"',
    );
  } else draft.take(word, own);
  draft.take({ name: '', value: symbol }, { ticker: symbol });
  if (own?.action === 'buy' || own?.action === 'sell') draft.lack(sizeInLots);
  return [draft];
}
