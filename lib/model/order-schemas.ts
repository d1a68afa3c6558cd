import * as z from 'zod/mini';
import type { Decimal } from '../base/decimal.ts';
import { type OrderType, positionSides, sides, stpModes } from './order.ts';

/** A decimal as a value, not as text. */
export const DecimalValue = z.custom<Decimal>(
  (value) => typeof value === 'object' && value !== null && 'toFixed' in value,
  'must be a decimal',
);

/** The first fields of every order. */
const placement = {
  market: z.string(),
  side: z.enum(sides),
  /** In base units; see `isQuoteSized` for the exception. */
  amount: DecimalValue,
};

const limitPrice = { price: DecimalValue };
const triggerPrice = { activationPrice: DecimalValue };

/** How a limit order meets the book; at most one of them is true. */
const limitFlags = {
  /** Only rests: an order that would take is cancelled. */
  postOnly: z.optional(z.boolean()),
  /** Only takes: what does not fill at once is cancelled. */
  ioc: z.optional(z.boolean()),
};

/** The last fields of every order. */
const ending = { stp: z.optional(z.enum(stpModes)), clientOrderId: z.string() };

/** The last fields of every order on the collateral account. */
const collateralEnding = {
  stopLoss: z.optional(DecimalValue),
  takeProfit: z.optional(DecimalValue),
  positionSide: z.optional(z.enum(positionSides)),
  /** Only reduces the position. */
  reduceOnly: z.optional(z.boolean()),
  ...ending,
};

/**
 * The fields of each type of order; every type has an endpoint of its own. Requests, the validation of the paper
 * exchange and its journal all derive from this definition. Prices are in the quote currency. The fields are in the
 * order in which the exchange reports errors in them.
 *
 * Types without `spot_` trade on the collateral account: margin on a market that also has spot trading, futures on a
 * perpetual. Their fill places stop-loss and take-profit.
 */
export const orderSchemas = {
  /** Waits for the trigger price, then rests as a limit order. */
  stop_limit: z.strictObject({ ...placement, ...limitPrice, ...triggerPrice, ...collateralEnding }),
  /** Fills at its price or better, at once or after resting. */
  limit: z.strictObject({ ...placement, ...limitPrice, ...limitFlags, ...collateralEnding }),
  /** Fills at once, at whatever price the book has. */
  market: z.strictObject({ ...placement, ...collateralEnding }),
  /** Waits for the trigger price, then fills like a market order. */
  stop_market: z.strictObject({ ...placement, ...triggerPrice, ...collateralEnding }),
  spot_limit: z.strictObject({ ...placement, ...limitPrice, ...limitFlags, ...ending }),
  /** A buy is sized in quote units. */
  spot_market: z.strictObject({ ...placement, ...ending }),
  /** A market order whose buy, too, is sized in base units. */
  spot_stock_market: z.strictObject({ ...placement, ...ending }),
  spot_stop_limit: z.strictObject({ ...placement, ...limitPrice, ...triggerPrice, ...ending }),
  /** A buy is sized in quote units. */
  spot_stop_market: z.strictObject({ ...placement, ...triggerPrice, ...ending }),
} satisfies Record<OrderType, z.ZodMiniType>;
