/** What the form of the alert builder holds. A field that does not apply is left out of the message. */
export interface AlertForm {
  /** `strategy`: its alerts fire with its orders; `price`: an alert on a price or an indicator. */
  readonly of: 'strategy' | 'price';
  /** Empty: that of the chart. */
  readonly ticker: string;
  readonly action:
    | 'follow'
    | 'orders'
    | 'buy'
    | 'sell'
    | 'close'
    | 'reverse'
    | 'target'
    | 'protect'
    | 'cancel_all';
  readonly kind: 'market' | 'limit' | 'stop_limit' | 'stop_market';
  readonly unit: 'base' | 'quote' | 'percent' | 'position';
  readonly size: string;
  readonly stopPrice: string;
  readonly limitPrice: string;
  readonly stopLoss: string;
  readonly takeProfit: string;
  readonly trailing: string;
  readonly maxSlippage: string;
  readonly strategy: string;
  readonly comment: string;
}

export const emptyForm: AlertForm = {
  of: 'price',
  ticker: '',
  action: 'buy',
  kind: 'market',
  unit: 'base',
  size: '0.001',
  stopPrice: '',
  limitPrice: '',
  stopLoss: '',
  takeProfit: '',
  trailing: '',
  maxSlippage: '',
  strategy: '',
  comment: '',
};

/** Which parts of the form apply. */
export interface FormParts {
  readonly hasKind: boolean;
  readonly hasSize: boolean;
  readonly hasStopPrice: boolean;
  readonly hasLimitPrice: boolean;
  readonly hasExits: boolean;
  readonly hasSlippage: boolean;
}

const kindParts = {
  market: { stopPrice: false, limitPrice: false, slippage: true },
  limit: { stopPrice: false, limitPrice: true, slippage: false },
  stop_limit: { stopPrice: true, limitPrice: true, slippage: false },
  stop_market: { stopPrice: true, limitPrice: false, slippage: false },
} as const;

export function partsOf({ action, kind }: AlertForm): FormParts {
  const isOrder = action === 'buy' || action === 'sell' || action === 'orders';
  const opens = isOrder || action === 'follow' || action === 'reverse' || action === 'target';
  const parts = kindParts[kind];
  return {
    hasKind: isOrder,
    hasSize: action === 'buy' || action === 'sell' || action === 'target' || action === 'close',
    hasStopPrice: isOrder && parts.stopPrice,
    hasLimitPrice: isOrder && parts.limitPrice,
    hasExits: opens || action === 'protect',
    hasSlippage: isOrder ? parts.slippage : opens || action === 'close',
  };
}

type Message = Readonly<Record<string, string>>;

/** Writes the message to paste, with TradingView's placeholders. */
export function writeAlertMessage(form: AlertForm): string {
  const parts = partsOf(form);
  const { ticker, kind, stopPrice, limitPrice, stopLoss, takeProfit, trailing, maxSlippage, strategy } = form;
  const message: Message = {
    ticker: ticker === '' ? '{{ticker}}' : ticker,
    ...actionOf(form),
    ...(parts.hasKind ? { orderType: kind } : {}),
    ...(parts.hasSize ? sizeOf(form) : {}),
    ...(parts.hasStopPrice ? { stopPrice } : {}),
    ...(parts.hasLimitPrice ? { limitPrice } : {}),
    ...(parts.hasSlippage ? { maxSlippage } : {}),
    ...(parts.hasExits ? { stopLoss, takeProfit, trailing } : {}),
    strategy,
    time: '{{timenow}}',
    comment: commentOf(form),
  };
  const said = Object.entries(message).filter(([, value]) => value.trim() !== '');
  return JSON.stringify(Object.fromEntries(said), null, 2);
}

function actionOf({ action }: AlertForm): Message {
  switch (action) {
    case 'follow':
      return {
        marketPosition: '{{strategy.market_position}}',
        marketPositionSize: '{{strategy.market_position_size}}',
        orderType: 'market',
      };
    case 'orders':
      return { action: '{{strategy.order.action}}', quantity: '{{strategy.order.contracts}}' };
    default:
      return { action };
  }
}

function sizeOf({ action, unit, size }: AlertForm): Message {
  if (action === 'close')
    return size === '' || unit !== 'position' ? {} : { quantityPercent: withPercent(size) };
  if (action === 'target') return unit === 'quote' ? { targetQuote: size } : { target: size };
  switch (unit) {
    case 'base':
      return { quantity: size };
    case 'quote':
      return { quoteQuantity: size };
    case 'percent':
      return { quantityPercent: withPercent(size), of: 'balance' };
    case 'position':
      return { quantityPercent: withPercent(size), of: 'position' };
  }
}

function withPercent(size: string): string {
  return size === '' || size.includes('{{') || size.trim().endsWith('%') ? size : `${size.trim()}%`;
}

/** Tells two orders of one second apart. */
function commentOf({ of, comment }: AlertForm): string {
  if (comment !== '') return comment;
  return of === 'strategy' ? '{{strategy.order.id}}' : '';
}
