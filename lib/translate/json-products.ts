import { plainWord } from '../signals/foreign-words.ts';
import type { MessageDraft } from './draft.ts';
import { ratioAsPercent } from './ratio.ts';
import {
  applyRules,
  become,
  flag,
  keepText,
  leave,
  type Rule,
  type Rules,
  translateAction,
  unlessZero,
  type Values,
} from './rules.ts';
import { isLimitWord, isMarketWord, isOffWord } from './text-words.ts';

/** A relay whose messages are JSON. */
export interface JsonProduct {
  readonly name: string;
  recognises(values: Values): boolean;
  readonly rules: Rules;
}

const stopIsLimit = 'the stop-loss of the exchange is a stop-limit order';

function percentOf(field: 'stopLoss' | 'takeProfit' | 'trailing'): Rule {
  return (word, draft) => draft.take(word, { [field]: `${word.value.replace(/%$/, '')}%` });
}

const noTrailing: Rule = (word, draft) => {
  draft.leave(word, 'trails by an amount, and the relay by a per cent');
  draft.lack('how far behind the best price the stop-loss stays, as a per cent: "trailing": "1.5%"');
};

/** Names and shapes that its documents have and others do not. */
const ofTradersPost =
  /^(?:quantitytype|signalprice|extendedhours|(?:stoploss|takeprofit)\.(?:type|percent|amount|limitprice|stopprice|trail\w*)|extras\..*)$/;

const oneOrder = 'one order; there, open orders are cancelled and an opposite position is closed first';

/** @see https://github.com/TradersPost/docs/blob/main/webhook-spec.json read 2026-11-22 */
const tradersPost: JsonProduct = {
  name: 'TradersPost',
  recognises: (values) =>
    values.has('ticker') &&
    values.has('action') &&
    [...values.keys()].some((name) => ofTradersPost.test(name)),
  rules: {
    action: (word, draft, values) =>
      /^(?:buy|sell)$/i.test(word.value)
        ? draft.take(word, { action: word.value.toLowerCase() }, oneOrder)
        : translateAction(word, draft, values),
    quantity: sizeIn('quantitytype', {
      fixedquantity: (size) => ({ quantity: size }),
      dollaramount: (size) => ({ quoteQuantity: size }),
      percentofposition: (size) => ({ quantityPercent: `${size}%`, of: 'position' }),
    }),
    quantitytype: leave('is the unit of the size'),
    'stoploss.type': (word, draft, values) => {
      const isTrailing = plainWord(word.value).startsWith('trailing');
      draft.leave(word, isTrailing ? 'the relay moves the stop-loss' : stopIsLimit);
      if (isTrailing && !values.has('stoploss.trailpercent') && !values.has('stoploss.trailamount'))
        draft.lack('how far behind the best price the stop-loss stays: "trailing": "1.5%"');
    },
    'stoploss.percent': percentOf('stopLoss'),
    'stoploss.stopprice': become('stopLoss'),
    'stoploss.trailpercent': percentOf('trailing'),
    'stoploss.trailamount': noTrailing,
    'takeprofit.percent': percentOf('takeProfit'),
    'takeprofit.limitprice': become('takeProfit'),
  },
};

/** The size in the unit that another value names; without one, it is an amount of the base currency. */
function sizeIn(
  unitName: string,
  units: Readonly<Record<string, (size: string) => Record<string, string> | undefined>>,
): Rule {
  return (word, draft, values) => {
    const unit = values.get(unitName);
    const fields = unit === undefined ? { quantity: word.value } : units[plainWord(unit)]?.(word.value);
    if (fields !== undefined) draft.take(word, fields, unit === undefined ? 'in the base currency' : '');
    else {
      draft.leave(word, 'is in a unit that the relay does not have');
      draft.lack(
        'a size: "quantity" in the base currency, "quoteQuantity" in the quote currency, or "quantityPercent", a share of what is free',
      );
    }
  };
}

/** What is written and switched off would be on here. */
function leaveOn(what: string): Rule {
  return (word, draft) => {
    if (!isOffWord(word.value)) return draft.leave(word, 'is on');
    draft.leave(word, 'is off');
    draft.lack(`a message without the ${what} that is off`);
  };
}

/**
 * @see https://help.3commas.io/en/articles/9374557-signal-bot-json-file-for-strategy-type and
 *   https://help.3commas.io/en/articles/8894481-signal-bot-json-file-in-custom-signal-type read 2026-11-23
 */
const threeCommas: JsonProduct = {
  name: '3Commas',
  recognises: (values) =>
    values.has('botuuid') || values.has('tvinstrument') || (values.has('botid') && values.has('emailtoken')),
  rules: {
    pair: (word, draft) =>
      draft.take(word, { ticker: word.value.replace(/^([A-Z0-9]+)_([A-Z0-9]+)$/, '$2$1') }),
    action: (word, draft, values) =>
      /^close_at_market_price/.test(word.value)
        ? draft.take(word, { action: 'close' }, 'closes the position of the market')
        : translateAction(word, draft, values),
    maxlag: become('maxLag'),
    triggerprice: become('referencePrice', 'the last price there'),
    'order.amount': sizeIn('order.currencytype', {
      base: (size) => ({ quantity: size }),
      quote: (size) => ({ quoteQuantity: size }),
      marginpercent: (size) => ({ quantityPercent: `${size}%` }),
      positionpercent: (size) => ({ quantityPercent: `${size}%`, of: 'position' }),
    }),
    'order.currencytype': leave('is the unit of the size'),
    'order.ordertype': (word, draft) => draft.take(word, { orderType: word.value.toLowerCase() }),
    'order.price': (word, draft, values) =>
      isLimitWord(values.get('order.ordertype') ?? '')
        ? draft.take(word, { limitPrice: word.value })
        : draft.leave(word, 'a market order has no price'),
    'strategyinfo.marketposition': become(
      'sentiment',
      'the position after the order: an order against it only reduces',
    ),
    'strategyinfo.marketpositionsize': leave('the size of the order counts'),
    messagetype: (word, draft, values) => {
      draft.leave(word, 'is a setting of 3Commas');
      if (!values.has('action'))
        draft.lack(
          'an "action": without one, the bot there starts a deal; here "buy", or "sell" for a short bot, with a size, which is a setting of the bot',
        );
    },
    'stoploss.enabled': leaveOn('stop-loss'),
    'stoploss.ordertype': leave(stopIsLimit),
    'stoploss.triggerprice': become('stopLoss'),
    'stoploss.triggerpricepercent': percentOf('stopLoss'),
    'takeprofit.enabled': leaveOn('take-profit'),
    delayseconds: unlessZero(leave('LOST: the relay does not wait')),
    botid: leave('names the bot there'),
  },
};

const ourSide: Readonly<Record<string, string>> = {
  'enter-long': 'enter_long',
  'enter-short': 'enter_short',
  'exit-long': 'exit_long',
  'exit-short': 'exit_short',
  'exit-all': 'close',
};

/** @see https://wundertrading.com/docs/mcp/tools/place_strategy_trade the units, read 2026-11-23 */
const wunderTrading: JsonProduct = {
  name: 'WunderTrading',
  recognises: (values) => /^(?:enter|exit)-/i.test(values.get('code') ?? ''),
  rules: {
    code: (word, draft, values) => {
      const [, command = ''] = /^((?:enter|exit)-(?:long|short|all))/i.exec(word.value) ?? [];
      const action = ourSide[command.toLowerCase()];
      const symbols = word.value
        .split('_')
        .filter((part) => /^[A-Z0-9]{2,10}[/-]?(?:USDT|USDC|USD|EUR|BTC)$/.test(part));
      draft.hide({ name: 'code', value: word.value });
      if (action === undefined) return draft.lack('an "action": the code names none');
      draft.take({ name: 'code', value: command }, { action });
      const [symbol] = symbols;
      if (symbol !== undefined && symbols.length === 1 && !values.has('ticker') && !values.has('pair'))
        draft.take({ name: 'code', value: symbol }, { ticker: symbol.replace(/[/-]/, '') });
      else if (!values.has('ticker') && !values.has('pair'))
        draft.lack('the "ticker": there it is a setting of the bot; "{{ticker}}" is that of the chart');
    },
    amountpertrade: sizeIn('amountpertradetype', {
      base: (size) => ({ quantity: size }),
      contracts: (size) => ({ quantity: size }),
      quote: (size) => ({ quoteQuantity: size }),
      $: (size) => ({ quoteQuantity: size }),
      percents: (size) => {
        const percent = ratioAsPercent(size);
        return percent === undefined ? undefined : { quantityPercent: percent };
      },
    }),
    amountpertradetype: leave('is the unit of the size'),
    'stoploss.pricedeviation': exitRatio('stopLoss'),
    'stoploss.price': become('stopLoss'),
    reduceonly: flag('reduceOnly'),
    placeconditionalordersonexchange: leave('the exchange holds stop-loss and take-profit here'),
  },
};

/** The comment of a bot alone: `ENTER-LONG_BINANCE_BTCUSDT_…`. All but the command and the symbol names the bot. */
export function readWunderTrading(text: string): MessageDraft {
  const draft = applyRules([{ name: 'code', value: text.trim() }], wunderTrading.rules);
  if (draft.message.action?.startsWith('enter_') === true)
    draft.lack(
      'the size, which is a setting of the bot there: "quantity" in the base currency, "quoteQuantity" in the quote currency, or "quantityPercent"',
    );
  return draft;
}

function exitRatio(field: 'stopLoss' | 'takeProfit'): Rule {
  return (word, draft) => {
    const percent = ratioAsPercent(word.value);
    if (percent !== undefined)
      return draft.take(word, { [field]: percent }, 'a ratio there, a per cent here');
    draft.leave(word, 'is no share from 0 to 1');
    draft.lack(`"${field}" as a price, or as a distance such as "2%"`);
  };
}

/** @see https://docs.openalgo.in/api-documentation/v1/placesmartorder read 2026-11-22 */
const openAlgo: JsonProduct = {
  name: 'OpenAlgo',
  recognises: (values) => values.has('pricetype') || (values.has('apikey') && values.has('product')),
  rules: {
    price: unlessZero((word, draft, values) =>
      isMarketWord(values.get('pricetype') ?? '')
        ? draft.leave(word, 'a market order has no price')
        : draft.take(word, { limitPrice: word.value }),
    ),
    triggerprice: unlessZero(become('stopPrice')),
    disclosedquantity: unlessZero(leave('LOST: the exchange shows every order in full')),
    positionsize: leave('LOST: the size of the order does not depend on the position here'),
    product: leave('tradesOn in relay.config.ts says on which account a market trades'),
  },
};

/** @see https://www.okx.com/help/signal-bot-alert-message-specifications read 2026-11-24; BloFin takes the same messages */
const okx: JsonProduct = {
  name: 'OKX',
  recognises: (values) => values.has('signaltoken') && values.has('instrument'),
  rules: {
    id: keepText('comment'),
    instrument: (word, draft) =>
      draft.take(word, { ticker: word.value.replace(/^([A-Z0-9]+)-([A-Z0-9]+)-SWAP$/, '$1$2.P') }),
    maxlag: become('maxLag'),
    marketposition: become('sentiment', 'the position after the order: an order against it only reduces'),
    marketpositionsize: leave('the size of the order counts'),
    amount: sizeIn('investmenttype', {
      base: (size) => ({ quantity: size }),
      percentageposition: (size) => ({ quantityPercent: `${size}%`, of: 'position' }),
    }),
    investmenttype: leave('is the unit of the size'),
    orderpriceoffset: unlessZero((word, draft) => {
      draft.leave(word, 'is an offset of the live price, which the relay does not have');
      draft.lack('the "limitPrice": a price');
    }),
  },
};

/** The template of the video tutorials, which many scripts repeat. */
const tutorial: JsonProduct = {
  name: "the tutorials' template",
  recognises: (values) => values.has('strategy.orderaction'),
  rules: {
    'strategy.orderaction': translateAction,
    'strategy.ordercontracts': become('quantity', 'in the base currency'),
    'strategy.orderprice': become('referencePrice', 'the fills are compared with it'),
    'strategy.orderid': (word, draft) =>
      /^\{\{strategy\.order\.(?:id|comment)\}\}$/.test(word.value)
        ? draft.take(word, { comment: word.value }, 'distinguishes two orders of the same second')
        : draft.leave(word, 'only informs'),
    'strategy.positionsize': leave('only informs: the size of the order counts'),
    'strategy.marketposition': leave('only informs; as "marketPosition" it would state a position'),
    'strategy.marketpositionsize': leave('only informs: the size of the order counts'),
  },
};

/** Names that many relays share. Where they mean something else in one, it is what they mean to TradersPost. */
const usual: JsonProduct = {
  name: 'a message in the usual names',
  recognises: (values) => values.has('ticker') && values.has('action'),
  rules: tradersPost.rules,
};

const unknown: JsonProduct = { name: 'an unknown relay', recognises: () => true, rules: {} };

/** The likeliest first; the last one takes what is called as usual. */
const products: readonly JsonProduct[] = [
  tutorial,
  wunderTrading,
  okx,
  threeCommas,
  openAlgo,
  tradersPost,
  usual,
  unknown,
];

/** The relay that the values come from. */
export function productOf(values: Values): JsonProduct {
  return products.find(({ recognises }) => recognises(values)) ?? unknown;
}

/** Whether the names of the values are those of one other relay alone. */
export function isNamed({ name }: Pick<JsonProduct, 'name'>): boolean {
  return name !== usual.name && name !== unknown.name;
}
