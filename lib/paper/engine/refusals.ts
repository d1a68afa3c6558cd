/**
 * One refusal of the paper exchange, with the live service's code, key and text.
 *
 * @see DECISIONS 96
 */
export interface RefusalRow {
  readonly httpStatus: number;
  readonly code: number;
  /** The parameter that the text belongs to; null if the response names none. */
  readonly key: string | null;
  /** `{}` is a placeholder for a value such as a step or a minimum. */
  readonly text: string;
}

const validation = (code: number, key: string, text: string): RefusalRow => ({
  httpStatus: 422,
  code,
  key,
  text,
});
const inner = (code: number, key: string, text: string): RefusalRow => ({ httpStatus: 400, code, key, text });
const interest = (key: string, text: string): RefusalRow => ({ httpStatus: 400, code: 0, key, text });
const access = (httpStatus: number, code: number, text: string): RefusalRow => ({
  httpStatus,
  code,
  key: null,
  text,
});

/**
 * Every refusal of the paper exchange.
 *
 * Rows marked "in kind" are not published. They complete a family whose other members are, and are worded
 * like those.
 *
 * @see https://docs.whitebit.com the service's public documents, errors per endpoint
 */
export const refusalTable = {
  market_required: validation(30, 'market', 'Market field is required.'),
  market_unknown: validation(31, 'market', 'Market is not available.'),
  side_required: validation(30, 'side', 'Side field is required.'),
  side_unknown: validation(30, 'side', "Side field should contain only 'buy' or 'sell' values."),
  amount_required: validation(30, 'amount', 'Amount field is required.'),
  amount_not_numeric: validation(32, 'amount', 'Amount field should be numeric string or number.'),
  amount_not_positive: validation(32, 'amount', 'Amount should be greater than 0.'),
  amount_off_step: validation(32, 'amount', 'Min amount step = {}'),
  amount_too_small: validation(32, 'amount', 'Given amount is less than min amount {}'),
  balance_too_small: validation(32, 'amount', 'Not enough balance.'),
  collateral_too_small: validation(17, 'amount', 'Not enough balance.'),
  quote_amount_too_small: validation(32, 'amount', 'Total amount should be no less than {} + trade fee'),
  price_required: validation(30, 'price', 'Price field is required.'),
  price_not_numeric: validation(33, 'price', 'Price field should be numeric string or number.'),
  price_not_positive: validation(33, 'price', 'Price should be greater than 0.'),
  price_off_step: validation(33, 'price', 'Min price step = {}'),
  // In kind.
  stop_limit_price_required: validation(30, 'stop_limit_price', 'Stop limit price field is required.'),
  stop_limit_price_not_numeric: validation(
    33,
    'stop_limit_price',
    'Stop limit price field should be numeric string or number.',
  ),
  stop_limit_price_not_positive: validation(
    33,
    'stop_limit_price',
    'Stop limit price should be greater than 0.',
  ),
  stop_limit_price_off_step: validation(33, 'stop_limit_price', 'Min stop limit price step = {}'),
  activation_required: validation(30, 'activation_price', 'Activation price field is required.'),
  activation_not_numeric: validation(30, 'activation_price', 'Activation price should be numeric string.'),
  activation_not_positive: validation(30, 'activationPrice', 'Activation price should be greater than 0.'),
  activation_off_step: validation(30, 'activationPrice', 'Min activation price step = {}'),
  activation_at_last_price: validation(
    30,
    'activationPrice',
    'Activation price should not be equal to the last price',
  ),
  total_too_small: validation(30, 'total', 'Total(amount * price) is less than {}'),
  // In kind.
  total_too_big: validation(30, 'total', 'Total(amount * price) is more than {}'),
  client_order_id_not_text: validation(36, 'clientOrderId', 'ClientOrderId field should be a string.'),
  client_order_id_charset: validation(
    36,
    'clientOrderId',
    'ClientOrderId field should contain only latin letters, numbers and dashes.',
  ),
  // In kind: the length is published, the text is not.
  client_order_id_too_long: validation(
    36,
    'clientOrderId',
    'ClientOrderId field should not be longer than 64.',
  ),
  client_order_id_used: validation(
    36,
    'clientOrderId',
    'This client order id is already used by the current account.',
  ),
  // In kind, as are the other checks of stop-loss and take-profit.
  stop_loss_not_numeric: validation(30, 'stopLoss', 'StopLoss field should be numeric string or number.'),
  stop_loss_not_positive: validation(30, 'stopLoss', 'StopLoss should be greater than 0.'),
  stop_loss_off_step: validation(30, 'stopLoss', 'Min stopLoss step = {}'),
  take_profit_not_numeric: validation(
    30,
    'takeProfit',
    'TakeProfit field should be numeric string or number.',
  ),
  take_profit_not_positive: validation(30, 'takeProfit', 'TakeProfit should be greater than 0.'),
  take_profit_off_step: validation(30, 'takeProfit', 'Min takeProfit step = {}'),
  // In kind: codes 105 and 106 are published, their texts are not.
  take_profit_wrong_side: validation(105, 'takeProfit', 'Take profit price is on the wrong side of {}'),
  stop_loss_wrong_side: validation(106, 'stopLoss', 'Stop loss price is on the wrong side of {}'),
  // In kind: codes 150 and 151 are published, their texts are not.
  pair_take_profit_would_take: validation(150, 'price', 'Take profit order should be a maker order.'),
  pair_stop_loss_wrong_side: validation(
    151,
    'activation_price',
    'Activation price is on the wrong side of the market.',
  ),
  // In kind.
  position_side_unknown: validation(
    30,
    'positionSide',
    "PositionSide field should contain only 'LONG', 'SHORT' or 'BOTH' values.",
  ),
  position_side_futures_only: validation(
    30,
    'positionSide',
    'PositionSide field is available for futures markets only.',
  ),
  position_side_mismatch: validation(114, 'hedgeMode', "Order's position side does not match user's setting"),
  // Likely, not certain: published for one-way mode. For hedge mode, the response to closing more than the position is not
  // published.
  position_opposite: validation(
    115,
    'hedgeMode',
    'Order would result in a new position in the opposite direction',
  ),
  // In kind.
  stp_unknown: validation(30, 'stp', "Stp field should contain only 'no', 'cb', 'cn' or 'co' values."),
  reduce_only_no_position: validation(116, 'reduceOnly', "Reduce-only: Position doesn't exist or wrong side"),
  // In kind, as are the other checks of flags without a published text.
  reduce_only_with_prices: validation(
    30,
    'reduceOnly',
    'ReduceOnly field is not available with stopLoss or takeProfit.',
  ),
  // In kind: only an exchange that was set to refuse them does.
  reduce_only_unavailable: validation(
    30,
    'reduceOnly',
    'ReduceOnly field is not available for this order type.',
  ),
  reduce_only_not_boolean: validation(30, 'reduceOnly', 'ReduceOnly field should be a boolean.'),
  post_only_not_boolean: validation(30, 'postOnly', 'PostOnly field should be a boolean.'),
  ioc_not_boolean: validation(30, 'ioc', 'Ioc field should be a boolean.'),
  ioc_with_post_only: validation(37, 'ioc', 'Either IOC or PostOnly flag in true state is allowed.'),
  // In kind: whether a collateral limit order may be `ioc` is contradictory.
  ioc_unavailable: validation(30, 'ioc', 'Ioc field is not available for this order type.'),
  spot_would_take: validation(
    13,
    'postOnly',
    "This order couldn't be executed as a maker order and was canceled.",
  ),
  collateral_would_take: validation(
    14,
    'postOnly',
    "This order couldn't be executed as a maker order and was canceled.",
  ),
  // In kind.
  leverage_unknown: validation(
    30,
    'leverage',
    'Leverage field should be one of 1, 2, 3, 5, 10, 20, 50, 100.',
  ),
  leverage_not_covered: validation(17, 'leverage', 'Not enough balance.'),
  hedge_mode_not_boolean: validation(30, 'hedgeMode', 'HedgeMode field should be a boolean.'),
  hedge_mode_in_use: validation(
    113,
    'hedgeMode',
    'Position side cannot be changed if there exists futures positions or orders',
  ),
  position_id_not_integer: validation(30, 'positionId', 'PositionId field should be an integer.'),
  position_not_found: validation(104, 'positionId', "position doesn't exist"),
  types_not_array: validation(30, 'type', 'The type must be an array.'),
  // In kind.
  types_unknown: validation(
    30,
    'type',
    "Type field should contain only 'spot', 'margin' or 'futures' values.",
  ),
  cancel_side_unknown: validation(
    30,
    'positionSide',
    "PositionSide field should contain only 'both', 'long' or 'short' values.",
  ),
  order_id_required: validation(30, 'orderId', 'OrderId field is required.'),
  order_id_not_integer: validation(30, 'orderId', 'OrderId field should be an integer.'),
  // In kind: "exactly one" is published, the text is not.
  order_ids_ambiguous: validation(30, 'orderId', 'Only one of OrderId and ClientOrderId should be set.'),
  modify_conditional: validation(155, 'orderId', "Can't modify conditional order"),
  // In kind: codes 158 and 160 are published, their texts are not. The codes of the others are not published.
  modify_exit: validation(160, 'orderId', "Can't modify take profit or stop loss order"),
  modify_activated: inner(158, 'activationPrice', 'Order is already activated.'),
  modify_nothing: validation(
    30,
    'amount',
    'At least one of amount, total, price and activationPrice should be set.',
  ),
  modify_amount_and_total: validation(30, 'total', 'Only one of amount and total should be set.'),
  modify_needs_amount: validation(30, 'total', 'Total field is available for buy stop market orders only.'),
  modify_needs_total: validation(30, 'amount', 'Total field should be set for a buy stop market order.'),
  modify_without_price: validation(30, 'price', 'Price field is not available for this order type.'),
  modify_without_activation: validation(
    30,
    'activationPrice',
    'ActivationPrice field is not available for this order type.',
  ),
  order_not_found: inner(2, 'orderId', 'Unexecuted order was not found.'),
  conditional_not_found: inner(2, 'id', 'Unexecuted order was not found.'),
  oto_not_found: inner(2, 'otoId', 'Unexecuted order was not found.'),
  conditional_id_not_integer: validation(30, 'id', 'Id field should be an integer.'),
  oto_id_not_integer: validation(30, 'otoId', 'OtoId field should be an integer.'),
  history_not_found: validation(30, 'orderHistory', 'OrderHistory was not found.'),
  // In kind: the limits are published, the texts are not.
  history_status_unknown: validation(
    30,
    'status',
    "Status field should contain only 'ALL', 'FILLED', 'CANCELED' or 'PARTIALLY_FILLED' values.",
  ),
  start_date_not_integer: validation(30, 'startDate', 'StartDate field should be an integer.'),
  start_date_too_old: validation(30, 'startDate', 'StartDate should not be older than 6 months.'),
  end_date_not_integer: validation(30, 'endDate', 'EndDate field should be an integer.'),
  end_date_before_start: validation(30, 'endDate', 'EndDate should be after StartDate.'),
  end_date_in_future: validation(30, 'endDate', 'EndDate should not be in the future.'),
  dates_too_far_apart: validation(30, 'endDate', 'The range of dates should not be longer than 31 days.'),
  book_limit_not_integer: validation(30, 'limit', 'The limit must be an integer.'),
  // In kind.
  book_limit_too_big: validation(30, 'limit', 'The limit may not be greater than 100.'),
  book_level_not_integer: validation(30, 'level', 'The level must be an integer.'),
  candle_interval_invalid: validation(30, 'interval', 'Interval is invalid.'),
  trade_type_unknown: validation(30, 'type', "Type should be 'sell' or 'buy'."),
  limit_too_big: validation(30, 'limit', 'Limit should not be greater than {}.'),
  // In kind.
  limit_too_small: validation(30, 'limit', 'Limit should be at least 1.'),
  limit_not_integer: validation(30, 'limit', 'Limit field should be an integer.'),
  offset_negative: validation(30, 'offset', 'Offset should be at least 0.'),
  // In kind.
  offset_not_integer: validation(30, 'offset', 'Offset field should be an integer.'),
  ticker_not_text: validation(30, 'ticker', 'Ticker field should be a string.'),
  currency_not_found: validation(30, 'ticker', 'Currency was not found.'),
  collateral_ticker_invalid: validation(30, 'ticker', 'ticker is invalid.'),
  balance_ticker_not_text: validation(0, 'ticker', 'validation.string'),
  interest_plan_unknown: interest('planId', 'The selected planId is invalid.'),
  interest_ticker_unknown: interest('ticker', 'The selected ticker is invalid.'),
  interest_limit_too_big: interest('limit', 'The limit may not be greater than 100.'),
  // In kind.
  interest_limit_too_small: interest('limit', 'The limit must be at least 1.'),
  interest_limit_not_integer: interest('limit', 'The limit must be an integer.'),
  interest_offset_negative: interest('offset', 'The offset must be at least 0.'),
  // In kind.
  interest_offset_too_big: interest('offset', 'The offset may not be greater than 10000.'),
  interest_offset_not_integer: interest('offset', 'The offset must be an integer.'),
  unauthorized: access(401, 10, 'Unauthorized request.'),
  key_disabled: access(403, 2, 'This action is unauthorized. Enable your key in API settings'),
  key_may_not: access(403, 4, 'This API Key is not authorized to perform this action.'),
  not_a_partner: access(403, 0, 'This action is unauthorized.'),
  // The status is not published.
  payload_invalid: access(400, 9, 'Invalid payload.'),
  nonce_refused: access(429, 0, 'Too many requests.'),
  // In kind.
  nonce_required: validation(30, 'nonce', 'Nonce field is required.'),
  nonce_not_text: validation(30, 'nonce', 'Nonce field should be a string.'),
  // The written API promises JSON for these too, but publishes no code: the status is used as the code.
  rate_limited: access(429, 429, 'Too Many Requests'),
  path_unknown: access(404, 404, 'Not Found'),
  body_too_large: access(413, 413, 'Payload Too Large'),
} as const satisfies Record<string, RefusalRow>;

export type RefusalName = keyof typeof refusalTable;

/** A refusal and the value for the placeholder in its text. */
export interface Refusal {
  readonly name: RefusalName;
  readonly value?: string;
}
