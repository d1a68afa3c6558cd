import * as z from 'zod';
import { formatDecimal, isDecimalText, parseDecimal, zero } from '../../base/decimal.ts';
import { readJson } from '../../base/json.ts';
import { accountTypes } from '../engine/set-funds.ts';

const DecimalText = z
  .string()
  .refine(isDecimalText, 'must be a decimal number as text, for example "60000.5"')
  .transform((text) => parseDecimal(text));

export const PriceRequestSchema = z.strictObject({
  market: z.string(),
  price: DecimalText,
  volume: DecimalText.optional(),
});

const AmountText = DecimalText.refine((amount) => amount.gte(zero), 'must not be below 0');

export const BalanceRequestSchema = z.strictObject({
  account: z.string(),
  ticker: z.string().min(1),
  amount: AmountText,
});

export const FundsRequestSchema = z.strictObject({
  account: z.string(),
  of: z.enum(accountTypes),
  ticker: z.string().min(1),
  amount: AmountText,
});

export const LeverageRequestSchema = z.strictObject({ account: z.string(), leverage: z.int() });

export const HedgeRequestSchema = z.strictObject({ account: z.string(), hedgeMode: z.boolean() });

/** Stored as text without trailing zeros. */
const TermText = AmountText.transform(formatDecimal).optional();
const TermsRequestSchema = z.strictObject({
  minFlex: TermText,
  maxFlex: TermText,
  percentFlex: TermText,
  fixed: TermText,
  minAmount: TermText,
  maxAmount: TermText,
});

export const FeeRequestSchema = z.strictObject({
  ticker: z.string(),
  canDeposit: z.boolean().optional(),
  canWithdraw: z.boolean().optional(),
  deposit: TermsRequestSchema.optional(),
  withdraw: TermsRequestSchema.optional(),
});

export const InterestRequestSchema = z.strictObject({
  account: z.string(),
  planId: z.string().min(1),
  investmentId: z.string().min(1),
  ticker: z.string().min(1),
  amount: AmountText,
  /** Seconds since 1970; absent: now. */
  timestamp: z.int().min(0).optional(),
});

/**
 * Reads the body of a control request.
 *
 * @throws RangeError that names the validation issues
 */
export function readRequest<S extends z.ZodType>(schema: S, body: string): z.output<S> {
  const parsed = schema.safeParse(parseBody(body));
  if (!parsed.success) throw new RangeError(z.prettifyError(parsed.error));
  return parsed.data;
}

/** @throws RangeError when it is not JSON */
export function parseBody(body: string): unknown {
  const content = readJson(body);
  if (content === undefined) throw new RangeError('the body must be JSON');
  return content;
}
