/**
 * An alert message for a TradingView strategy, ready to paste.
 *
 * TradingView fills the placeholders in as plain text. The stop price is the script's first plot, the level it wants
 * to be filled at: `{{strategy.order.price}}` is a price that has traded already, and a stop there would wait for the
 * market to come back. The comment keeps two orders of one second apart: with `time`, the bytes of the message are
 * its identity.
 *
 * @see https://www.tradingview.com/support/solutions/43000531021/ the placeholders
 */
export const messageTemplate = `{
  "ticker": "{{ticker}}",
  "action": "{{strategy.order.action}}",
  "quantity": "{{strategy.order.contracts}}",
  "stopPrice": "{{plot_0}}",
  "time": "{{timenow}}",
  "comment": "{{strategy.order.id}}"
}`;
