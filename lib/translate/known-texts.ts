import type { OwnMessage } from './own-message.ts';

/** A text that is known by its form: what it is, and the message to paste instead of it. */
export interface KnownText {
  /** Completes "this is …". */
  readonly form: string;
  /** Null when the text does not say what an order needs. */
  readonly message: OwnMessage | null;
  /** What the reader must know about the message, or what is missing. */
  readonly advice: string;
}

/** The order of a strategy, in the words that TradingView fills in. */
const strategyOrder: OwnMessage = {
  ticker: '{{ticker}}',
  action: '{{strategy.order.action}}',
  orderType: 'market',
  quantity: '{{strategy.order.contracts}}',
  comment: '{{strategy.order.id}}',
};

export const rewriting =
  'save the message to a file: `npx relay translate FILE` says what each part of it becomes here';

/** What commands of other relays are called. */
export const forms = {
  pineConnector: 'a command for PineConnector',
  wunderTrading: 'a comment of a WunderTrading bot',
  alertatron: 'a command for Alertatron',
  autoview: 'a command for Autoview',
  crossTrade: 'a command for CrossTrade',
} as const;

const knownTexts: readonly (readonly [pattern: RegExp, text: KnownText])[] = [
  [
    /order (?:buy|sell|\{\{strategy\.order\.action\}\}) @ \S+ filled on \S+ New strategy position is \S+/i,
    {
      form: "TradingView's default text of a strategy alert",
      message: strategyOrder,
      advice:
        'TradingView fills the placeholders at every order of the strategy, so the message stays as it is',
    },
  ],
  [
    /^\s*\S+(?:, \S+)? (?:crossing(?: up| down)?|(?:greater|less) than|(?:entering|exiting|inside|outside) channel|moving (?:up|down)) (?:\S.*)?\d/i,
    {
      form: "TradingView's default text of an alert",
      message: null,
      advice:
        'it says what the price did, and neither what to do nor how much: write {"ticker": "{{ticker}}", "action": "buy" or "sell", "orderType": "market", "quantity": the amount, "time": "{{timenow}}"}, with your own values',
    },
  ],
  [
    /^\s*\d{6,}\s*,\s*[a-z]+\s*(?:,|$)/i,
    {
      form: forms.pineConnector,
      message: null,
      advice: rewriting,
    },
  ],
  [
    /^\s*(?:enter|exit)-(?:long|short|all)_\S*\s*$/i,
    { form: forms.wunderTrading, message: null, advice: rewriting },
  ],
  [/^\s*[\w-]+\([\w.:/-]*\)\s*\{/, { form: forms.alertatron, message: null, advice: rewriting }],
  [
    /(?=[\s\S]*\b[es]=\S)(?=[\s\S]*\b[bc]=(?:buy|sell|long|short|order|position)\b)/i,
    { form: forms.autoview, message: null, advice: rewriting },
  ],
  [
    /(?=[\s\S]*\bkey=)(?=[\s\S]*\bcommand=(?!place))/i,
    { form: forms.crossTrade, message: null, advice: rewriting },
  ],
];

/**
 * The text that TradingView or another relay is known for.
 *
 * @see https://www.tradingview.com/support/solutions/43000763312/ the conditions of an alert, which begin its default
 *   text; the default text of a strategy was read in the chart's own program, both on 2026-11-23
 * @see https://docs.pineconnector.com/syntax, http://www.autoview.com/syntax/,
 *   https://alertatron.com/docs/automated-trading/basic-concepts, https://docs.crosstrade.io/webhooks/commands/reverse the
 *   commands, read 2026-11-23
 */
export function knownTextOf(text: string): KnownText | undefined {
  return knownTexts.find(([pattern]) => pattern.test(text))?.[1];
}
