import * as z from 'zod';
import { isDecimalText, parseDecimal, zero } from '../base/decimal.ts';
import type { Dialect } from '../exchange/dialect.ts';
import { type MarketLimits, type RiskLimits, type TradingWindow, weekdays } from '../model/account.ts';
import { isTimeZone } from './cron.ts';

/** Prices and amounts are written as text, so that they stay exact. */
export const PositiveDecimal = z
  .string()
  .refine(
    (text) => isDecimalText(text) && parseDecimal(text).gt(zero),
    'must be a positive decimal as text, for example "0.5"',
  )
  .transform((text) => parseDecimal(text));

/** `"09:30"` → 570. */
const TimeOfDay = z
  .string()
  .refine((text) => /^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/.test(text), {
    error: 'must be a time from "00:00" to "24:00"',
    // What is checked after it compares times.
    abort: true,
  })
  .transform((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)));

const WindowSchema = z
  .strictObject({
    days: z
      .array(z.enum(weekdays))
      .min(1)
      .default([...weekdays]),
    from: TimeOfDay,
    until: TimeOfDay,
  })
  .refine(({ from }) => from < 1440, {
    path: ['from'],
    error: 'must be before "24:00": write "00:00" and the next day',
  })
  .refine(({ from, until }) => from !== until, {
    path: ['until'],
    error: 'must differ from `from`: write from "00:00" until "24:00" for whole days',
  })
  .transform(({ days, from, until }): TradingWindow => ({ days, fromMinute: from, untilMinute: until }));

/** The fields of an account that limit its risk as a whole. */
export const riskFields = {
  maxOpenNotional: PositiveDecimal.nullable().default(null),
  maxDailyLoss: PositiveDecimal.nullable().default(null),
  /** In minutes. */
  coolDownAfterLoss: z.int().min(1).max(1_440).nullable().default(null),
  tradingWindows: z.array(WindowSchema).min(1).nullable().default(null),
  timeZone: z
    .string()
    .refine(isTimeZone, 'must be a name of the tz database, for example "Europe/Kyiv"')
    .default('Etc/UTC'),
};

type RiskFields = z.output<z.ZodObject<typeof riskFields>>;

/** Replaces those fields by `limits`, which is left out when none of them is set. */
export function withRiskLimits<Rest extends RiskFields>(
  account: Rest,
): Omit<Rest, keyof RiskFields> & { readonly limits?: RiskLimits } {
  const { maxOpenNotional, maxDailyLoss, coolDownAfterLoss, tradingWindows, timeZone, ...rest } = account;
  const set = [maxOpenNotional, maxDailyLoss, coolDownAfterLoss, tradingWindows];
  if (set.every((limit) => limit === null)) return rest;
  const coolDownMs = coolDownAfterLoss === null ? null : coolDownAfterLoss * 60_000;
  return { ...rest, limits: { maxOpenNotional, maxDailyLoss, coolDownMs, tradingWindows, timeZone } };
}

/** The part of the configuration that these limits concern. */
interface ConfiguredLimits {
  readonly exchange: { readonly dialect: Dialect };
  readonly accounts: Readonly<
    Record<string, { readonly markets: Readonly<Record<string, MarketLimits>>; readonly limits?: RiskLimits }>
  >;
}

/** Refuses limits that need to know positions and fills in the dialect that lists neither. */
export function checkRiskDialect(
  { exchange, accounts }: ConfiguredLimits,
  context: Pick<z.RefinementCtx, 'addIssue'>,
): void {
  if (exchange.dialect === 'live') return;
  for (const [name, { markets, limits }] of Object.entries(accounts))
    for (const path of [...listMarketLimits(markets), ...listReadLimits(limits)])
      context.addIssue({
        code: 'custom',
        path: ['accounts', name, ...path],
        message: `needs positions and fills, and in the dialect "${exchange.dialect}" the exchange lists neither: leave it out, or set the exchange's dialect to "live" if that is what it speaks`,
      });
}

function listMarketLimits(markets: Readonly<Record<string, MarketLimits>>): readonly string[][] {
  return Object.entries(markets).flatMap(([market, { maxPosition = null }]) =>
    maxPosition === null ? [] : [['markets', market, 'maxPosition']],
  );
}

function listReadLimits(limits: RiskLimits | undefined): readonly string[][] {
  if (limits === undefined) return [];
  const { maxOpenNotional, maxDailyLoss, coolDownMs } = limits;
  return Object.entries({ maxOpenNotional, maxDailyLoss, coolDownAfterLoss: coolDownMs }).flatMap(
    ([name, limit]) => (limit === null ? [] : [[name]]),
  );
}
