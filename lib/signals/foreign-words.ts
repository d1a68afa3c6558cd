/**
 * Words that alerts for other relays use for something this relay does not have, or has under several names. Taking such
 * a word for the field that looks most like it could change the size, the side or the protection of an order, so its
 * owner is told what it means and what to do.
 */

/** Matched against a whole word in lower case, without spaces, dashes and underscores. */
type Meaning = readonly [words: RegExp, hint: string];

const size = '"quantity" is in the base currency, "quoteQuantity" in the quote currency';
const closing = 'this relay closes no positions: the order may open or enlarge one';
const fixed = '"stopLoss" and "takeProfit" are fixed prices';
const position = 'it names a position; here "buy" or "sell" places one order, whatever is held';

const fieldMeanings: readonly Meaning[] = [
  [
    /(?:position|pos)size|(?:target)?position/,
    `it is the size of a position; here every order says its own: ${size}`,
  ],
  [/.*sentiment|.*marketposition|direction|bias|trend/, position],
  [
    /(?:sl|tp|stoploss|takeprofit).*(?:perc|percent|pct|percentage|type|ticks|pips|points|offset|distance)/,
    `${fixed}, no distances: let the script work them out`,
  ],
  [
    /(?:tp|sl|takeprofit|stoploss|target)s?\d+|targets?|takeprofits|stoplosses/,
    `${fixed}, one of each for all of the order`,
  ],
  [/.*trail.*|callbackrate|breakeven|movestop/, `${fixed}: nothing follows the price`],
  [
    /.*(?:perc|percent|pct|percentage)|risk/,
    `shares of a balance are not taken; let the script work the size out: ${size}`,
  ],
  [
    /(?:qty|quantity|amount|ordersize|size|volume|currency)(?:type|unit|currency)|currency|units?/,
    `it says what the size is counted in; here ${size}`,
  ],
  [
    /(?:order)?size|volume|lots?(?:size)?|contract|(?:amount|size)?usdt?(?:amount|size)?|cost|notional|funds|cash/,
    `use the field your size is counted in: ${size}`,
  ],
  [/(?:is)?(?:reduce|close|exit|flat)(?:only|all|position|long|short|ten)?/, closing],
  [
    /reverse|reversal|flip|cancel.*(?:previous|orders|first)/,
    'a signal does one thing: send an array of them',
  ],
  [/lever(?:age)?|.*margin.*|isolated|hedgemode/, 'it is a setting of the exchange account: make it there'],
  [
    /stop(?:px)?/,
    '"stopPrice" is where the order wakes up, "stopLoss" protects the position: use the one you mean',
  ],
  [
    /stp|selftradeprevention/,
    'it sets self-trade prevention, not "stopLoss" or "takeProfit"; this relay leaves it to the exchange',
  ],
  [
    /timeinforce|tif|postonly|ioc|fok|gt[cd]|expir.*|goodtill.*|cancelafter/,
    'orders stand until they fill or are cancelled',
  ],
  [
    /(?:entry|open|close|last|current|spot|market|mark|reference|order)price|entry|(?:max)?slippage/,
    '"stopPrice" is where the order wakes up, "limitPrice" the worst price it takes: use the one you mean',
  ],
  [
    /(?:trigger|activation|stop)(?:condition|direction)/,
    'the exchange derives it; "expectTrigger" checks it: "above" or "below"',
  ],
  [
    /(?:is)?(?:test|paper|dryrun|simulated?|demo|sandbox)(?:mode|trading)?/,
    "the account's mode in relay.config.ts decides what is sent: without it, this alert is no test",
  ],
  [
    /account(?:id|name)?|exchange|broker|bot(?:id|uuid|name)?|user(?:id)?|email/,
    'the account is named in the webhook URL',
  ],
  [/ticket/, '"orderId" names an order, "ticker" what is traded'],
];

const actionMeanings: readonly Meaning[] = [
  [/(?:enter)?(?:long|short)/, position],
  [/(?:close|exit|flat)(?:long|short|all)?|reverse|flip/, closing],
];

const orderTypeMeanings: readonly Meaning[] = [
  [
    /stop|(?:stop)?market/,
    'no market orders are placed; "stop_limit" and "limit" keep to a limit price, and may stay unfilled',
  ],
  [/trail.*/, 'nothing follows the price; "stop_limit" waits for a fixed one'],
];

/** What a key means in alerts for other relays, and what to do here; undefined for a key that is not known from there. */
export function hintForForeignField(key: string): string | undefined {
  return findHint(key, fieldMeanings);
}

/** The same for the value of `action`. */
export function hintForForeignAction(word: string): string | undefined {
  return findHint(word, actionMeanings);
}

/** The same for the value of `orderType`. */
export function hintForForeignOrderType(word: string): string | undefined {
  return findHint(word, orderTypeMeanings);
}

/** Lower case, without spaces, dashes and underscores: however a word is spelt, it stays that word. */
export function plainWord(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '');
}

function findHint(word: string, meanings: readonly Meaning[]): string | undefined {
  const plain = plainWord(word);
  return meanings.find(([words]) => new RegExp(`^(?:${words.source})$`).test(plain))?.[1];
}
