import * as z from 'zod';
import { formatPercent, isDecimalText, one, rateOfPercent, zero } from '../base/decimal.ts';
import {
  accountModes,
  fillsAtAnyPrice,
  protectionRules,
  stopKinds,
  tradingGrounds,
} from '../model/account.ts';
import { isPerpetualName, perpetualSuffix } from '../model/market.ts';
import { sides } from '../model/order.ts';
import { regions } from '../model/region.ts';
import { mismatchRules } from '../model/signal.ts';
import { OwnLevelsSchema } from './notice-config.ts';
import { PositiveDecimal, riskFields, withRiskLimits } from './risk-config.ts';

/** `"0.1%"` → 0.001. */
const PercentRate = z
  .string()
  .refine(isPercentRate, 'must be a per cent between 0% and 100%, for example "0.1%"')
  .transform(rateOfPercent);

function isPercentRate(text: string): boolean {
  if (!text.endsWith('%') || !isDecimalText(text.slice(0, -1))) return false;
  const rate = rateOfPercent(text);
  return rate.gte(zero) && rate.lt(one);
}

export const MarketName = z.string().regex(/^[A-Za-z0-9]+_[A-Za-z0-9]+$/, 'must look like BTC_USDT');
const PerMinute = z.int().min(1).max(10_000);

const MarketLimitsSchema = z.strictObject({
  tradesOn: z.enum(tradingGrounds, { error: ({ input, path }) => complainGround(input, path?.at(-2)) }),
  sides: z
    .array(z.enum(sides))
    .min(1)
    .default([...sides]),
  maxAmount: PositiveDecimal.nullable().default(null),
  maxNotional: PositiveDecimal.nullable().default(null),
  maxPosition: PositiveDecimal.nullable().default(null),
});

const MarketsSchema = z.record(MarketName, MarketLimitsSchema).superRefine((markets, context) => {
  for (const [market, { tradesOn, maxPosition }] of Object.entries(markets)) {
    if (tradesOn === 'spot' && maxPosition !== null)
      context.addIssue({
        code: 'custom',
        path: [market, 'maxPosition'],
        message:
          'is set, and a spot market has no position: leave it out, and bound its orders with maxAmount',
      });
    if (isPerpetualName(market) === (tradesOn === 'futures')) continue;
    context.addIssue({
      code: 'custom',
      path: [market, 'tradesOn'],
      message: isPerpetualName(market)
        ? `is '${tradesOn}', and a perpetual market trades on futures alone: write tradesOn: 'futures'`
        : `is 'futures', and only perpetual markets (…${perpetualSuffix}) trade there: write tradesOn: 'margin' or tradesOn: 'spot'`,
    });
  }
});

/** @param market the last but one step of the path, which is the market's name */
function complainGround(input: unknown, market: PropertyKey | undefined): string {
  const words = "'spot', 'margin' or 'futures'";
  if (input !== undefined) return `must be ${words}`;
  const name = String(market);
  const advice = isPerpetualName(name)
    ? "Add tradesOn: 'futures' to its entry"
    : "Add tradesOn: 'margin' or tradesOn: 'spot' to its entry; one from before this setting meant 'margin'";
  return `is missing: every market says on which account of the exchange it trades, ${words}. ${advice}`;
}

export const AccountSchema = z
  .strictObject({
    mode: z.enum(accountModes),
    region: z.enum(regions).nullable().default(null),
    limitOffset: PercentRate.nullable().default(null),
    maxLimitDistance: PercentRate.nullable().prefault('3%'),
    markets: MarketsSchema,
    maxSlippage: PercentRate.nullable().default(null),
    allowUnguardedMarket: z.boolean().default(false),
    defaultOrderType: z.literal('market').nullable().default('market'),
    requirePosition: z.boolean().default(false),
    maxOrdersPerMinute: PerMinute.nullable().default(null),
    maxSignalsPerMinute: PerMinute.nullable().default(null),
    ...riskFields,
    onMismatch: z.enum(mismatchRules).default('deny'),
    oneStrategyPerMarket: z.boolean().nullable().default(null),
    protection: z.enum(protectionRules).default('keep'),
    stopKind: z.enum(stopKinds).default('limit'),
    notices: OwnLevelsSchema.default({}),
  })
  .transform(({ limitOffset, maxLimitDistance, maxSlippage, ...rest }) => ({
    ...withRiskLimits(rest),
    maxSlippageRate: maxSlippage,
    limitOffsetRate: limitOffset,
    maxLimitDistanceRate: maxLimitDistance,
  }))
  .superRefine(({ limitOffsetRate: offset, maxLimitDistanceRate: maximum }, context) => {
    if (offset === null || maximum === null || offset.lte(maximum)) return;
    context.addIssue({
      code: 'custom',
      path: ['limitOffset'],
      message: `is ${formatPercent(offset)}, more than maxLimitDistance (${formatPercent(maximum)}): every order without a limit price would be denied; lower limitOffset, or raise maxLimitDistance`,
    });
  })
  .superRefine(({ onMismatch, maxSlippageRate, allowUnguardedMarket }, context) => {
    if (onMismatch === 'deny' || maxSlippageRate !== null || allowUnguardedMarket) return;
    context.addIssue({
      code: 'custom',
      path: ['onMismatch'],
      message: `is '${onMismatch}', which closes positions at market, and the account has no maxSlippage: those orders would be denied; add maxSlippage, for example '0.5%'`,
    });
  })
  .superRefine(({ stopKind, allowUnguardedMarket }, context) => {
    if (!fillsAtAnyPrice[stopKind] || allowUnguardedMarket) return;
    context.addIssue({
      code: 'custom',
      path: ['stopKind'],
      message: `is 'market', and such a stop-loss fills at any price: add allowUnguardedMarket: true, or write stopKind: 'limit'`,
    });
  });

/** An account of the configuration, once it is checked. */
export type ConfiguredAccount = z.output<typeof AccountSchema>;
