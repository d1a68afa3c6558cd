/** A buy stop-limit of BTC above a price of 50,000, with both exits; every call may change any field. */
export function buyAlert(changes: Record<string, unknown> = {}): string {
  return JSON.stringify({
    id: 'buy-1',
    ticker: 'BTCUSDT',
    action: 'buy',
    quantity: '0.01',
    stopPrice: '50100',
    limitPrice: '50200',
    stopLoss: '49000',
    takeProfit: '52000',
    ...changes,
  });
}
