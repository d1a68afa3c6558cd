/**
 * Words that alerts for other relays use for something that this relay does not have, or has under several
 * names. Suggesting the field whose name looks most similar could change the size, the side or the protection
 * of an order. So the hint explains what the word means and what to write instead.
 */

/** The pattern is matched against the whole word in lower case, without spaces, dashes and underscores. */
type Meaning = readonly [words: RegExp, hint: string];

const size = '"quantity" is in the base currency, "quoteQuantity" in the quote currency';
const closing = 'this relay cannot close a position: the order may open or enlarge one';
const fixed = '"stopLoss" and "takeProfit" are fixed prices';
const position = 'it names a position; here "buy" or "sell" places one order, whatever position you have';

const fieldMeanings: readonly Meaning[] = [
  [
    /(?:position|pos)size|(?:target)?position/,
    `it is the size of a position; here every order states its own size: ${size}`,
  ],
  [/.*sentiment|.*marketposition|direction|bias|trend/, position],
  [
    /(?:sl|tp|stoploss|takeprofit).*(?:perc|percent|pct|percentage|type|ticks|pips|points|offset|distance)/,
    `${fixed}, not distances: let the script calculate the prices`,
  ],
  [
    /(?:tp|sl|takeprofit|stoploss|target)s?\d+|targets?|takeprofits|stoplosses/,
    `${fixed}: one of each for the whole order`,
  ],
  [/.*trail.*|callbackrate|breakeven|movestop/, `${fixed}: trailing is not supported`],
  [
    /.*(?:perc|percent|pct|percentage)|risk/,
    `a share of the balance is not accepted; let the script calculate the size: ${size}`,
  ],
  [
    /(?:qty|quantity|amount|ordersize|size|volume|currency)(?:type|unit|currency)|currency|units?/,
    `it names the unit of the size; here ${size}`,
  ],
  [
    /(?:order)?size|volume|lots?(?:size)?|contract|(?:amount|size)?usdt?(?:amount|size)?|cost|notional|funds|cash/,
    `use the field for the unit of your size: ${size}`,
  ],
  [/(?:is)?(?:reduce|close|exit|flat)(?:only|all|position|long|short|ten)?/, closing],
  [
    /reverse|reversal|flip|cancel.*(?:previous|orders|first)/,
    'one signal does one thing: send an array of signals',
  ],
  [
    /lever(?:age)?|.*margin.*|isolated|hedgemode/,
    'it is a setting of the exchange account: set it at the exchange',
  ],
  [
    /stop(?:px)?/,
    '"stopPrice" is the trigger price of the order, "stopLoss" protects the position: use the one you mean',
  ],
  [
    /stp|selftradeprevention/,
    'it sets self-trade prevention, not "stopLoss" or "takeProfit"; this relay leaves it to the exchange',
  ],
  [
    /timeinforce|tif|postonly|ioc|fok|gt[cd]|expir.*|goodtill.*|cancelafter/,
    'orders stay open until they are filled or cancelled',
  ],
  [
    /(?:entry|open|close|last|current|spot|market|mark|reference|order)price|entry|(?:max)?slippage/,
    '"stopPrice" is the trigger price of the order, "limitPrice" the worst price you accept: use the one you mean',
  ],
  [
    /(?:trigger|activation|stop)(?:condition|direction)/,
    'the exchange derives it; "expectTrigger" checks it: "above" or "below"',
  ],
  [
    /(?:is)?(?:test|paper|dryrun|simulated?|demo|sandbox)(?:mode|trading)?/,
    "the account's mode in relay.config.ts decides what is sent: this field would not make the alert a test",
  ],
  [
    /account(?:id|name)?|exchange|broker|bot(?:id|uuid|name)?|user(?:id)?|email/,
    'the account is named in the webhook URL',
  ],
  [/ticket/, '"orderId" names an order, "ticker" the market'],
];

const actionMeanings: readonly Meaning[] = [
  [/(?:enter)?(?:long|short)/, position],
  [/(?:close|exit|flat)(?:long|short|all)?|reverse|flip/, closing],
];

const orderTypeMeanings: readonly Meaning[] = [
  [
    /stop|(?:stop)?market/,
    'this relay places no market orders; "stop_limit" and "limit" orders have a limit price, and may stay unfilled',
  ],
  [/trail.*/, 'trailing is not supported; "stop_limit" waits for a fixed price'],
];

/**
 * What a key means in alerts for other relays, and what to do here; undefined for a key that other relays do
 * not use.
 */
export function hintForForeignField(key: string): string | undefined {
  return findHint(key, fieldMeanings);
}

/** Like `hintForForeignField`, for the value of `action`. */
export function hintForForeignAction(word: string): string | undefined {
  return findHint(word, actionMeanings);
}

/** Like `hintForForeignField`, for the value of `orderType`. */
export function hintForForeignOrderType(word: string): string | undefined {
  return findHint(word, orderTypeMeanings);
}

/** Lower case, without spaces, dashes and underscores, so that all spellings of a word compare equal. */
export function plainWord(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '');
}

function findHint(word: string, meanings: readonly Meaning[]): string | undefined {
  const plain = plainWord(word);
  return meanings.find(([words]) => new RegExp(`^(?:${words.source})$`).test(plain))?.[1];
}
