import type { Dialect } from '../exchange/dialect.ts';
import type { Account } from '../model/account.ts';
import { isCarried, kindNamed } from '../orders/order-kinds.ts';

/** What an alert message can be made for. */
export const templateNames = ['strategy', 'breakout', 'indicator'] as const;
export type TemplateName = (typeof templateNames)[number];

/** An alert message for TradingView, and what has to be changed in it first. */
export interface MessageTemplate {
  readonly name: TemplateName;
  /** What it does, in a sentence or two. */
  readonly purpose: string;
  /** JSON, ready to paste once it is edited. */
  readonly message: string;
  /** What must be edited before it is pasted; none where it is right for every script. */
  readonly edits: readonly TemplateEdit[];
}

export interface TemplateEdit {
  readonly field: string;
  readonly what: string;
}

/** The templates whose orders exist in the dialect that the exchange is spoken to in; the first is the usual one. */
export function templatesOf(dialect: Dialect): readonly TemplateName[] {
  return hasLimitOrders(dialect) ? templateNames : ['breakout', 'indicator'];
}

/**
 * Makes the message of an account.
 *
 * TradingView fills the placeholders in as plain text. `{{strategy.order.price}}` is a price that has traded already:
 * right for a limit order, while a stop there would wait for the market to come back. `{{plot_0}}` is whatever the
 * script plots first, a price or not. The comment keeps two orders of one second apart: with `time`, the bytes of the
 * message are its identity.
 *
 * @see https://www.tradingview.com/support/solutions/43000531021/ the placeholders
 */
export function createTemplate(name: TemplateName, account: Account, dialect: Dialect): MessageTemplate {
  switch (name) {
    case 'strategy':
      return {
        name,
        purpose:
          'For any strategy: a limit order at the price at which TradingView filled the order of the strategy. It rests unfilled if the market has moved away, an exit as well as an entry.',
        message: write({ ...strategyStart, ...limitAt('{{strategy.order.price}}'), ...strategyEnd }),
        edits: [],
      };
    case 'breakout':
      return {
        name,
        purpose:
          'For a strategy that plots the level at which it trades: a stop-limit order that wakes when the market gets there.',
        message: write({ ...strategyStart, ...stopOf(account, dialect), ...strategyEnd }),
        edits: [plotEdit],
      };
    case 'indicator':
      return createIndicatorTemplate(account, dialect);
  }
}

function createIndicatorTemplate(account: Account, dialect: Dialect): MessageTemplate {
  const hasLimit = hasLimitOrders(dialect);
  return {
    name: 'indicator',
    purpose: hasLimit
      ? 'For an indicator: a limit order at the closing price of the bar that fired the alert.'
      : 'For an indicator that plots the level to trade at: a stop-limit order that wakes when the market gets there.',
    message: write({
      ticker: '{{ticker}}',
      action: 'EDIT: buy or sell',
      quantity: 'EDIT: how much, in the base currency',
      ...(hasLimit ? limitAt('{{close}}') : stopOf(account, dialect)),
      time: '{{timenow}}',
      comment: 'EDIT: a name for this alert',
    }),
    edits: hasLimit ? indicatorEdits : [...indicatorEdits, plotEdit],
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
  what: '{{plot_0}} is the first plot of the script, whatever it draws. Make it the price at which the order is to wake, or name another plot: {{plot_1}}, {{plot_2}} …',
};
const indicatorEdits: readonly TemplateEdit[] = [
  {
    field: 'action',
    what: 'Write buy or sell. Only strategies have {{strategy.order.action}}: make one alert for each.',
  },
  { field: 'quantity', what: 'Write the amount of one order, for example 0.01.' },
  { field: 'comment', what: 'Write a name: two alerts of one second are told apart by it.' },
];

function limitAt(limitPrice: string): Readonly<Record<string, string>> {
  return { orderType: 'limit', limitPrice };
}

/** Without an offset of the account an alert brings its own limit price; which way it wakes, the live dialect tells. */
function stopOf({ limitOffsetRate }: Account, dialect: Dialect): Readonly<Record<string, string>> {
  return {
    stopPrice: '{{plot_0}}',
    ...(limitOffsetRate === null ? { limitPrice: '{{plot_0}}' } : {}),
    ...(dialect === 'live' ? { expectTrigger: 'breakout' } : {}),
  };
}

function hasLimitOrders(dialect: Dialect): boolean {
  return isCarried(kindNamed('limit'), dialect);
}

function write(message: Readonly<Record<string, string>>): string {
  return JSON.stringify(message, null, 2);
}
