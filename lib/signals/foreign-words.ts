/**
 * Words that alerts for other relays use for something this relay does not have, or has under several names. Taking such
 * a word for the field that looks most like it could change the size, the side or the protection of an order, so its
 * owner is told what it means and what to do.
 */

const size =
  'a size is "quantity" in the base currency, or "quoteQuantity" in the quote currency: use the one your number is counted in';
const closing =
  'this relay neither closes positions nor marks orders as reduce-only: without this field, the order may open or enlarge a position';

/** By key: lower case, without spaces, dashes and underscores. */
const fieldGroups: readonly (readonly [words: string, hint: string])[] = [
  [
    'size volume lots lot lotsize ordersize units contract usd usdt usdamount amountusd cost notional funds cash',
    size,
  ],
  [
    'quantitytype qtytype amounttype sizetype ordersizetype currencytype currency unit quantityunit qtyunit volumetype',
    `it says what the size is counted in; here ${size}, and work per cents out in the script`,
  ],
  [
    'percent percentage pct quantitypercent quantitypct qtypercent qtypct amountpercent sizepercent sizepct orderpercent balancepercent equitypercent riskpercent risk riskpct',
    `shares of a balance are not taken; let the script work out the number: ${size}`,
  ],
  [
    'positionsize strategypositionsize marketpositionsize prevmarketpositionsize prevpositionsize position targetposition',
    `it is the size of a position, held or wanted; here every order says its own size: ${size}`,
  ],
  [
    'sentiment marketposition prevmarketposition direction bias trend',
    'it says which position the strategy should hold; here "action" (buy or sell) places one order, whatever is held',
  ],
  [
    'reduceonly reduce closeonly closeposition closeall closelong closeshort exit flat flatten isclose exitonly',
    closing,
  ],
  [
    'reverse reversal flip cancelprevious cancelorders cancelfirst',
    'every signal does one thing: send an array, for example a "cancel_all" before an order',
  ],
  [
    'leverage lever margin marginmode margintype marginratio isolated crossmargin hedgemode',
    'it is a setting of the exchange account, and an alert does not change it: set it at the exchange',
  ],
  [
    'trailing trailingstop trailingstoploss trailingtakeprofit trail trailprice trailoffset trailpoints trailamount trailpercent trailingpercent trailingdelta callbackrate breakeven movestop',
    'nothing follows the price here: "stopLoss" and "takeProfit" are fixed prices; without this field the position has only those',
  ],
  [
    'stoplosspercent stoplosspct stoplossperc slpercent slpct slperc takeprofitpercent takeprofitpct tppercent tppct tpperc stoplosstype takeprofittype sltype tptype stoplossticks takeprofitticks slticks tpticks slpips tppips stoplossoffset takeprofitoffset',
    '"stopLoss" and "takeProfit" are prices, not distances or per cents: let the script work the price out',
  ],
  [
    'stop stoppx stopprices',
    'it could be "stopPrice", where the order wakes up, or "stopLoss", which protects the position: use the one you mean',
  ],
  [
    'targets target takeprofits stoplosses',
    'an order takes one "takeProfit" and one "stopLoss", for all of its size',
  ],
  [
    'stp selftradeprevention',
    'it sets self-trade prevention, which this relay leaves to the exchange; it is neither "stopLoss" nor "takeProfit"',
  ],
  [
    'timeinforce tif postonly ioc fok gtc gtd expiry expiration expireafter goodtill cancelafter ordertimeout',
    'orders stand until they fill or are cancelled; remove it only if that is right',
  ],
  [
    'entry entryprice openprice close closeprice lastprice currentprice spotprice marketprice markprice referenceprice orderprice',
    '"stopPrice" is where the order wakes up, "limitPrice" the worst price it takes: use the one you mean',
  ],
  [
    'slippage maxslippage deviation',
    'the worst price is "limitPrice", or the account\'s limitOffset in relay.config.ts',
  ],
  [
    'triggercondition triggerdirection activationcondition stopdirection',
    'the exchange derives it from its last price; "expectTrigger" ("above" or "below") checks it',
  ],
  [
    'test testmode istest paper papertrading dryrun simulate demo sandbox',
    "the account's mode in relay.config.ts decides whether orders are sent; removing this does not make the alert a test",
  ],
  [
    'account accountid accountname exchange broker bot botid botuuid botname user userid email',
    'the account is named in the webhook URL',
  ],
  ['ticket', 'an existing order is named by "orderId"; what is traded by "ticker"'],
];

const numbered = /^(?:tp|sl|takeprofit|stoploss|target)s?\d+$/;
const oneOfEach = 'an order takes one "takeProfit" and one "stopLoss", for all of its size';

const fieldHints: ReadonlyMap<string, string> = new Map(
  fieldGroups.flatMap(([words, hint]) => words.split(' ').map((word) => [word, hint] as const)),
);

/**
 * What a key means in alerts for other relays, and what to do here; undefined for a key that is not known from there.
 *
 * @param plain lower case, without spaces, dashes and underscores
 */
export function hintForForeignField(plain: string): string | undefined {
  return fieldHints.get(plain) ?? (numbered.test(plain) ? oneOfEach : undefined);
}

/** What other relays take for an action, by its lower-case spelling. */
export const foreignActions: Readonly<Record<string, string>> = {
  ...mapWords(
    'long short enter_long enter_short',
    'it names a position; here "buy" or "sell" places one order, whatever is held',
  ),
  ...mapWords(
    'close exit flat close_long close_short exit_long exit_short exit_all close_all',
    `${closing}; "cancel_all" only ends orders that are open`,
  ),
  ...mapWords('reverse flip', 'one signal places one order; a position is not reversed by itself'),
};

/** What other relays take for a kind of order, by its lower-case spelling. */
export const foreignOrderTypes: Readonly<Record<string, string>> = {
  ...mapWords(
    'market stop stop_market stop-market',
    'no market orders are placed: "stop_limit" and "limit" fill at their limit price or better, and may stay unfilled',
  ),
  ...mapWords(
    'trailing trailing_stop trailing-stop',
    'nothing follows the price here; "stop_limit" waits for a fixed price',
  ),
};

function mapWords(words: string, hint: string): Readonly<Record<string, string>> {
  return Object.fromEntries(words.split(' ').map((word) => [word, hint]));
}
