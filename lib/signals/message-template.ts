import type { Dialect } from '../exchange/dialect.ts';
import type { Account } from '../model/account.ts';
import type { OrderType } from '../model/order.ts';
import { regionOrderTypes } from '../model/region.ts';
import { isCarried } from '../orders/order-types.ts';

/** What a template is made for. */
export const templateNames = ['strategy', 'orders', 'limit', 'breakout', 'indicator'] as const;
export type TemplateName = (typeof templateNames)[number];

/** An alert message for TradingView, and what must be edited in it first. */
export interface MessageTemplate {
  readonly name: TemplateName;
  /** What the message does, in one or two sentences. */
  readonly purpose: string;
  /** JSON, ready to paste after the edits. */
  readonly message: string;
  /** What must be edited before pasting; empty when the message fits every script. */
  readonly edits: readonly TemplateEdit[];
}

export interface TemplateEdit {
  readonly field: string;
  readonly what: string;
}

/** What the order of a template is on a spot market, which is all that a region leaves. */
const spotTypes: Readonly<Record<TemplateName, OrderType>> = {
  strategy: 'spot_market',
  orders: 'spot_market',
  limit: 'spot_limit',
  breakout: 'spot_stop_limit',
  indicator: 'spot_market',
};

/** The templates whose orders exist in a dialect and in the region of the account, the usual one first. */
export function templatesOf(dialect: Dialect, { region }: Pick<Account, 'region'>): readonly TemplateName[] {
  if (!isCarried('market', dialect)) return ['breakout', 'indicator'];
  if (region === null) return templateNames;
  // A region has spot trading only, and there the message for a strategy repeats its orders already.
  return templateNames.filter(
    (name) => name !== 'orders' && regionOrderTypes[region].includes(spotTypes[name]),
  );
}

/**
 * Makes the alert message of an account.
 *
 * TradingView fills in the placeholders as plain text. `{{strategy.order.price}}` is a price that has already
 * traded: this suits a limit order, but a stop order at that price would wait for the market to come back.
 * `{{plot_0}}` is the first plot of the script, whether it is a price or not. The comment distinguishes two
 * orders of the same second: without an `id`, the bytes of the message are its identity.
 *
 * @see https://www.tradingview.com/support/solutions/43000531021/ the placeholders
 */
export function createTemplate(name: TemplateName, account: Account, dialect: Dialect): MessageTemplate {
  return { name, ...creators[name](account, dialect) };
}

type Unnamed = Omit<MessageTemplate, 'name'>;

const creators: Readonly<Record<TemplateName, (account: Account, dialect: Dialect) => Unnamed>> = {
  strategy: (account, dialect) => ({
    ...(hasPositions(account, dialect) ? followPosition(account) : repeatOrders(account)),
    edits: [],
  }),
  orders: (account) => ({ ...repeatOrders(account), edits: [] }),
  limit: () => ({
    purpose:
      'For any strategy: a limit order at the price at which TradingView filled the order of the strategy. If the market has moved away, the order stays open unfilled, whether it enters or exits a position.',
    message: write({ ...strategyStart, ...limitAt('{{strategy.order.price}}'), ...strategyEnd }),
    edits: [],
  }),
  breakout: (account, dialect) => ({
    purpose:
      'For a strategy that plots the level at which it trades: a stop-limit order that becomes active when the market reaches that level.',
    message: write({ ...strategyStart, ...stopOf(account, dialect), ...strategyEnd }),
    edits: [plotEdit],
  }),
  indicator: createIndicatorTemplate,
};

/** Whether a market of the account has positions that the relay can read. */
function hasPositions({ markets }: Account, dialect: Dialect): boolean {
  return dialect === 'live' && Object.values(markets).some(({ tradesOn }) => tradesOn !== 'spot');
}

function followPosition(account: Account): Omit<Unnamed, 'edits'> {
  return {
    purpose: `For any strategy: brings the position to that of the strategy, so that a lost, late or repeated alert heals with the next one. ${describeBound(account)}${onSpot(account)}`,
    message: write({
      ticker: '{{ticker}}',
      marketPosition: '{{strategy.market_position}}',
      marketPositionSize: '{{strategy.market_position_size}}',
      ...atMarket(account),
      ...strategyEnd,
    }),
  };
}

function onSpot({ markets }: Account): string {
  const spot = Object.keys(markets).filter((name) => markets[name]?.tradesOn === 'spot');
  return spot.length === 0 ? '' : ` ${spot.join(', ')} on spot has no positions: use --for orders there.`;
}

function repeatOrders(account: Account): Omit<Unnamed, 'edits'> {
  return {
    purpose: `For any strategy: a market order whenever the strategy places one. ${describeBound(account)}`,
    message: write({ ...strategyStart, ...atMarket(account), ...strategyEnd }),
  };
}

function createIndicatorTemplate(account: Account, dialect: Dialect): Unnamed {
  const hasMarket = isCarried('market', dialect);
  return {
    purpose: hasMarket
      ? 'For an indicator: a market order when the alert fires.'
      : 'For an indicator that plots the level to trade at: a stop-limit order that becomes active when the market reaches that level.',
    message: write({
      ticker: '{{ticker}}',
      action: 'EDIT: buy or sell',
      quantity: 'EDIT: how much, in the base currency',
      ...(hasMarket ? atMarket(account) : stopOf(account, dialect)),
      time: '{{timenow}}',
      comment: 'EDIT: a name for this alert',
    }),
    edits: hasMarket ? indicatorEdits : [...indicatorEdits, plotEdit],
  };
}

const strategyStart = {
  ticker: '{{ticker}}',
  action: '{{strategy.order.action}}',
  quantity: '{{strategy.order.contracts}}',
};
const strategyEnd = { time: '{{timenow}}', comment: '{{strategy.order.id}}' };

const plotEdit: TemplateEdit = {
  field: 'stopPrice',
  what: '{{plot_0}} is the first plot of the script, whatever it draws. Make it the trigger price of the order, or name another plot: {{plot_1}}, {{plot_2}} …',
};
const indicatorEdits: readonly TemplateEdit[] = [
  {
    field: 'action',
    what: 'Write buy or sell. Only strategies have {{strategy.order.action}}: make one alert for buy and one for sell.',
  },
  { field: 'quantity', what: 'Write the amount of one order, for example 0.01.' },
  { field: 'comment', what: 'Write a name: it distinguishes two alerts of the same second.' },
];

function describeBound(account: Account): string {
  return isUnguarded(account)
    ? `It fills at once, at any price: account ${account.name} has no maxSlippage.`
    : 'It fills at once, at most maxSlippage beyond the best price. What does not fill within that is cancelled.';
}

function isUnguarded({ maxSlippageRate, allowUnguardedMarket }: Account): boolean {
  return maxSlippageRate === null && allowUnguardedMarket;
}

/** The alert needs a bound of its own if the account has none and does not allow orders without one. */
function atMarket({ maxSlippageRate, allowUnguardedMarket }: Account): Readonly<Record<string, string>> {
  const needsBound = maxSlippageRate === null && !allowUnguardedMarket;
  return { orderType: 'market', ...(needsBound ? { maxSlippage: '0.5%' } : {}) };
}

function limitAt(limitPrice: string): Readonly<Record<string, string>> {
  return { orderType: 'limit', limitPrice };
}

/**
 * The alert needs a limit price of its own if the account has no limitOffset. Only the live dialect reports
 * on which side of the price an order triggers, so only there can `expectTrigger` be checked.
 */
function stopOf({ limitOffsetRate }: Account, dialect: Dialect): Readonly<Record<string, string>> {
  return {
    stopPrice: '{{plot_0}}',
    ...(limitOffsetRate === null ? { limitPrice: '{{plot_0}}' } : {}),
    ...(dialect === 'live' ? { expectTrigger: 'breakout' } : {}),
  };
}

function write(message: Readonly<Record<string, string>>): string {
  return JSON.stringify(message, null, 2);
}
