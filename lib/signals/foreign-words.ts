/**
 * Words that alerts for other relays use for something that this relay does not have, or has under several
 * names. Suggesting the field whose name looks most similar could change the size, the side or the protection
 * of an order. So the hint explains what the word means and what to write instead.
 */

/** The pattern is matched against the whole word in lower case, without spaces, dashes and underscores. */
type Meaning = readonly [words: RegExp, hint: string];

const size =
  '"quantity" is in the base currency, "quoteQuantity" in the quote currency, "quantityPercent" a share of what the account holds';
const closing =
  'to close a position, write "action": "close", with "quantity": "50%" for a part of it; "exit_long" and "exit_short" close one of a known side';
const closeEach =
  'one signal is about one market: write "action": "close" with the ticker of each market, in one array';
const target =
  'the position that you want is "target", or "marketPosition" with "marketPositionSize", or "positionSize": each in an alert without buy or sell';
const priceOrDistance =
  '"stopLoss" and "takeProfit" take a price, or a distance from the entry price: "stopLoss": "2%"';
/** What changes the protection of a position that is open. */
export const protectOpen =
  'for the open position send "action": "protect" with "stopLoss" (a price, "2%" or "entry"), "takeProfit" or "trailing"';
/** How a stop-loss follows the price. */
export const noTrailing =
  'the exchange has no trailing orders; the relay moves the stop-loss itself: write how far behind the best price it stays, as a per cent: "trailing": "1.5%"';
const noMovedStop =
  'when the stop-loss of the open position is to move, send "action": "protect" with the new "stopLoss": a price, "2%", or "entry" for break-even';
const severalTargets =
  'several take-profits are a list: "takeProfits": [{"price": "2%", "share": "50%"}, {"price": "4%", "share": "50%"}]; a single one is "takeProfit": "4%"; there is one "stopLoss"';
const noSeries =
  'one signal is one order: send one for each entry, with its own "quantity" and "limitPrice", and with a "stopLoss" that protects it';
const noFillOrKill =
  'the exchange has no fill-or-kill; "ioc": true fills at once what it can and cancels the rest';

const fieldMeanings: readonly Meaning[] = [
  [/.*(?:position|pos)size|(?:target)?position/, `it is the size of a position; ${target}`],
  [
    /(?:prev|previous|last)(?:market)?position/,
    'it is a position that is gone: write it as "prevMarketPosition", or as "requirePosition" if the order must not be sent with another one',
  ],
  [
    /.*sentiment|.*marketposition|direction|bias|trend|strategyinfo/,
    `it describes a position; here "action" says what to do, and "sentiment" is the position after the order; ${target}`,
  ],
  [
    /.*slippage.*|deviation/,
    '"maxSlippage" is how far beyond the best price a market order may fill: "maxSlippage": "0.5%"',
  ],
  [
    /(?:sl|stoploss)(?:limit|stop)(?:price)?/,
    'the exchange sets the limit price of a stop-loss; "stopLoss" is its trigger price',
  ],
  [
    /(?:sl|tp|stoploss|takeprofit).*(?:perc|percent|pct|percentage|type|unit|mode|ticks|pips|points|offset|distance)/,
    priceOrDistance,
  ],
  [/(?:tp|sl|takeprofit|stoploss|target)s?\d+|tps|sls|targets?|takeprofits|stoplosses/, severalTargets],
  [/.*trail.*|callbackrate/, noTrailing],
  [/.*breakeven.*|move(?:stop|sl).*/, noMovedStop],
  [/dca.*|safetyorders?|grid.*|martingale|averaging.*|ladder/, noSeries],
  [
    /.*(?:perc|percent|pct|percentage)|risk|equity/,
    '"quantityPercent" is a share of what the account holds; any other share must be calculated by the script',
  ],
  [
    /(?:qty|quantity|amount|ordersize|size|volume|currency|investment)(?:type|unit|mode|currency)|currency|units?|marketunit|tgtccy/,
    `it names the unit of the size; here ${size}`,
  ],
  [
    /ordersize|volume|lots?(?:size)?|contract|sizeusdt?|usdt?size|sz|stake(?:amount)?|quoteorderqty|cost|notional|funds|cash/,
    `use the field for the unit of your size: ${size}`,
  ],
  [/open|close/, `a price of the bar is a number; ${closing}`],
  [/closeall.*|flattenall|exitall/, closeEach],
  [/(?:is)?(?:reduce|close|exit|flat)(?:only|all|position|long|short|ten|ontrigger)?/, closing],
  [
    /reverse|reversal|flip/,
    'to turn a position, write "action": "reverse"; or send the position that you want as "target"',
  ],
  [/cancel(?:.*(?:previous|orders|first))?/, 'one signal does one thing: send an array of signals'],
  [
    /lever(?:age)?|.*margin.*|isolated|hedgemode/,
    'it is a setting of the exchange account: set it at the exchange',
  ],
  [
    /stop(?:px)?/,
    '"stopPrice" is the trigger price of the order, "stopLoss" protects the position: use the one you mean',
  ],
  [
    /trigger(?:price)?/,
    'some relays mean the trigger price of the order by it: write that as "stopPrice"; others mean the last price: remove that',
  ],
  [
    /orderpriceoffset/,
    'it is an offset of the live price: let the script calculate the price and write it as "limitPrice"',
  ],
  [/fok|fillorkill|allornone/, noFillOrKill],
  [
    /gt[cdx]|expir.*|goodtill.*|cancelafter|timetolive|ttl|validity/,
    'orders stay open until they are filled or cancelled: send a "cancel" when an order is no longer wanted',
  ],
  [
    /(?:entry|open|close|last|current|spot|market|mark|order|alert)price|entry/,
    '"stopPrice" is the trigger price of the order, "limitPrice" the worst price you accept, "referencePrice" the price that the fills are compared with: use the one you mean, or remove it',
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
    /code|command/,
    'write what to do as "action" ("buy", "sell", "enter_long", "exit_long", "enter_short", "exit_short", "close", "reverse", "target", "protect", "cancel", "cancel_all") and the market as "ticker"',
  ],
  [/account(?:id|name)?|exchange|broker|user(?:id)?|email/, 'the account is named in the webhook URL'],
  [
    /product(?:type)?|(?:disclosed|visible|hidden)(?:quantity|qty)|iceberg|rpi|retail|bborole/,
    'the relay does not send it; relay.config.ts says on which account a market trades',
  ],
  [
    /posside|positionidx/,
    'in hedge mode "positionSide" is the position that the order belongs to: "LONG" or "SHORT"; otherwise remove it',
  ],
  [
    /(?:new|orig)?clientorderid|clordid|orderlinkid/,
    'in an order "id" is your own name for the signal; every signal needs another one',
  ],
  [/ticket/, '"orderId" names an order, "ticker" the market'],
];

const actionMeanings: readonly Meaning[] = [
  [
    /long|short/,
    'it names a position; write what to do: "enter_long" or "buy", "enter_short" or "sell", "exit_long", "exit_short", "close"; or "sentiment" without an action, with the size of the position that you want',
  ],
  [/(?:close|exit|flatten).*all|panicsell/, closeEach],
  [/(?:close|exit|flat|flatten)(?:long|short|position)?|reduce/, closing],
  [/.*trail.*/, protectOpen],
  [/.*breakeven.*|(?:set|new|move|modify|update|change|adjust|edit)(?:stop|sl|tp|takeprofit).*/, protectOpen],
  [/add|increase|dca|grid|place|open/, 'write "buy" or "sell": every order states its own size'],
  [/cancel.*/, 'write "cancel" for one order, "cancel_all" for the open orders of the market'],
];

const orderTypeMeanings: readonly Meaning[] = [
  [/.*trail.*/, noTrailing],
  [/fok|fillorkill|allornone/, noFillOrKill],
  [/ioc|immediateorcancel/, 'write "orderType": "limit" with "ioc": true'],
  [/postonly|maker|limitmaker/, 'write "orderType": "limit" with "postOnly": true'],
  [/gt[cdx]|day/, 'it is no kind of order: orders stay open until they are filled or cancelled'],
  [
    /oco|oto|bracket/,
    'write the entry with "stopLoss" and "takeProfit": the exchange places them as a pair when it fills',
  ],
  [/stoploss.*|takeprofit.*/, `write "stopLoss" and "takeProfit" beside the entry; ${protectOpen}`],
];

/** Units of a size that are none of this relay's. */
const unitMeanings: readonly Meaning[] = [
  [/\$|dollars?|cash|notional/, 'write "quoteQuantity": it is an amount of the quote currency of the market'],
  [/risk.*/, 'the relay calculates no size from a risk: let the script calculate "quantity"'],
  [
    /percents/,
    'it is a ratio from 0 to 1 in other relays: write "quantityPercent": "5%" instead of the size and its unit',
  ],
  [
    /margin/,
    'with leverage an order is worth many times its margin: write what it is worth as "quoteQuantity", or "quantityPercent", a share of the free collateral',
  ],
  [
    /percentofequity|equity.*|(?:balance|margin|percentof).*|percentage.*/,
    '"quantityPercent" is a share of the free collateral, on a spot market of what is available: write it if you mean that; "target": "50%" is a position worth that share of the equity',
  ],
  [/lots?|shares?|contract/, 'write "base" if the size is in the base currency'],
];

/** Times in force that the exchange has not. */
const timeInForceMeanings: readonly Meaning[] = [
  [/fok|fillorkill|allornone/, noFillOrKill],
  [
    /day|gtd|gtt|opg|cls|.*date.*/,
    'the exchange has no orders that expire: write "gtc", and send a "cancel" when the order is no longer wanted',
  ],
  [/gtx|postonly|po/, 'write "postOnly": true'],
];

/**
 * What a key means in alerts for other relays, and what to do here; undefined for a key that other relays do
 * not use.
 *
 * @see DECISIONS 103
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

/** Like `hintForForeignField`, for the value of `quantityType`. */
export function hintForForeignUnit(word: string): string | undefined {
  return findHint(word, unitMeanings);
}

/** Like `hintForForeignField`, for the value of `timeInForce`. */
export function hintForForeignTimeInForce(word: string): string | undefined {
  return findHint(word, timeInForceMeanings);
}

/** Lower case, without spaces, dashes and underscores, so that all spellings of a word compare equal. */
export function plainWord(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '');
}

function findHint(word: string, meanings: readonly Meaning[]): string | undefined {
  const plain = plainWord(word);
  return meanings.find(([words]) => new RegExp(`^(?:${words.source})$`).test(plain))?.[1];
}
