/**
 * An alert message for a TradingView strategy, ready to paste.
 *
 * TradingView fills the placeholders in as plain text. The comment keeps two orders of one second apart: with `time`,
 * the bytes of the message are its identity.
 */
export const messageTemplate = `{
  "ticker": "{{ticker}}",
  "action": "{{strategy.order.action}}",
  "quantity": "{{strategy.order.contracts}}",
  "stopPrice": "{{strategy.order.price}}",
  "time": "{{timenow}}",
  "comment": "{{strategy.order.id}}"
}`;
