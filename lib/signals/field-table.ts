/**
 * Which actions take a field: every one, those that trade (orders and position actions), those and `protect` (`exits`), or
 * those named. In the alert of another action the field is refused.
 */
export type TakenBy = 'all' | 'trade' | 'exits' | 'order' | 'position' | 'cancel' | 'cancel_all';

interface FieldRow {
  readonly others: readonly string[];
  readonly takenBy: TakenBy;
  /** Whether `relay export signals` has a column of its value; its title is the name in words. */
  readonly hasColumn?: true;
  /** The most characters of a text that is only kept with the signal, under the same name; absent: a reader of its own. */
  readonly mostCharacters?: number;
}

/**
 * Every field of an alert that is understood, with its other accepted names. Case, spaces, dashes and underscores do not
 * matter, so each name stands here in one spelling. The columns of an export have this order.
 */
export const fieldTable = {
  ticker: { others: ['symbol', 'market', 'pair', 'instrument', 'tv_instrument'], takenBy: 'all' },
  action: { others: ['side', 'order', 'orderAction'], takenBy: 'all' },
  orderType: { others: ['type', 'pricetype'], takenBy: 'trade', hasColumn: true },
  quantity: {
    others: ['amount', 'contracts', 'qty', 'size', 'orderContracts', 'amountPerTrade'],
    takenBy: 'trade',
    hasColumn: true,
  },
  quoteQuantity: {
    others: ['quoteAmount', 'quoteQty', 'usd', 'usdAmount', 'amountUsd', 'usdt', 'usdtAmount', 'amountUsdt'],
    takenBy: 'trade',
    hasColumn: true,
  },
  quantityPercent: { others: [], takenBy: 'trade', hasColumn: true },
  quantityType: {
    others: ['qtyType', 'currency_type', 'amountPerTradeType', 'investmentType'],
    takenBy: 'trade',
  },
  of: { others: [], takenBy: 'trade', hasColumn: true },
  stopPrice: { others: ['activationPrice'], takenBy: 'order', hasColumn: true },
  limitPrice: { others: ['price'], takenBy: 'order', hasColumn: true },
  maxSlippage: { others: [], takenBy: 'trade', hasColumn: true },
  stopLoss: { others: ['sl', 'stopLossPrice'], takenBy: 'exits', hasColumn: true },
  takeProfit: { others: ['tp', 'takeProfitPrice'], takenBy: 'exits', hasColumn: true },
  takeProfits: { others: ['tps'], takenBy: 'exits', hasColumn: true },
  trailing: {
    others: ['trailingStop', 'trailingStopLoss', 'trailPercent', 'trailingPercent', 'trailingStopPercent'],
    takenBy: 'exits',
    hasColumn: true,
  },
  positionSide: { others: [], takenBy: 'exits', hasColumn: true },
  reduceOnly: { others: [], takenBy: 'trade', hasColumn: true },
  postOnly: { others: [], takenBy: 'order', hasColumn: true },
  ioc: { others: [], takenBy: 'order', hasColumn: true },
  timeInForce: { others: ['tif'], takenBy: 'order' },
  stp: { others: ['selfTradePrevention'], takenBy: 'trade', hasColumn: true },
  expectTrigger: { others: [], takenBy: 'order', hasColumn: true },
  requirePosition: { others: [], takenBy: 'order', hasColumn: true },
  prevMarketPosition: { others: ['prevPosition'], takenBy: 'all' },
  sentiment: { others: ['market_position'], takenBy: 'trade' },
  target: { others: [], takenBy: 'position' },
  targetQuote: { others: [], takenBy: 'position' },
  marketPositionSize: { others: [], takenBy: 'position' },
  positionSize: { others: [], takenBy: 'position' },
  referencePrice: { others: ['signalPrice', 'refPrice'], takenBy: 'trade', hasColumn: true },
  keepEntries: { others: [], takenBy: 'position' },
  scope: { others: [], takenBy: 'cancel_all' },
  time: { others: ['timestamp', 'timenow'], takenBy: 'all' },
  maxLag: { others: [], takenBy: 'all' },
  id: { others: [], takenBy: 'all' },
  signalId: { others: [], takenBy: 'all' },
  orderId: { others: [], takenBy: 'cancel' },
  clientOrderId: { others: [], takenBy: 'cancel' },
  strategy: { others: ['strategyName'], takenBy: 'all', hasColumn: true, mostCharacters: 128 },
  interval: { others: ['timeframe'], takenBy: 'all', hasColumn: true, mostCharacters: 16 },
  comment: { others: [], takenBy: 'all', hasColumn: true, mostCharacters: 512 },
  extras: { others: [], takenBy: 'all' },
} as const satisfies Readonly<Record<string, FieldRow>>;

export type FieldName = keyof typeof fieldTable;
/** The fields that state a size, of which an alert has one. */
export const sizeNames = [
  'quantity',
  'quoteQuantity',
  'quantityPercent',
] as const satisfies readonly FieldName[];
export const fieldNames = Object.keys(fieldTable) as readonly FieldName[];

export function rowOf(name: FieldName): FieldRow {
  return fieldTable[name];
}

export function namesTakenBy(...actions: readonly TakenBy[]): readonly FieldName[] {
  return fieldNames.filter((name) => actions.includes(fieldTable[name].takenBy));
}
