import * as z from 'zod';
import { isDecimalText, parseDecimal } from '../base/decimal.ts';
import { readJson } from '../base/json.ts';
import type { Market } from '../model/market.ts';

/** The rules of some markets, as the exchange stated them at one time. */
export interface MarketsCopy {
  readonly readAtMs: number;
  readonly markets: readonly Market[];
}

/** Keeps the newest copy of the exchange's market list, for a relay that starts while the exchange does not answer. */
export interface MarketCopies {
  /**
   * What was saved last for this exchange. Null when nothing was, or in a form that this release does not read.
   *
   * @throws RelayError `store_unavailable`
   */
  load(): Promise<MarketsCopy | null>;
  /**
   * Keeps the copy in the place of the one before.
   *
   * @throws RelayError `store_unavailable`
   */
  save(copy: MarketsCopy): Promise<void>;
}

/**
 * Well below the 400 KB of an item of DynamoDB: some thousand markets.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
const maximumBytes = 300_000;

/**
 * What the stores keep, as JSON text; decimals serialise as text, and so stay exact. Markets that no longer fit are
 * left out: they are asked of the exchange, as those that were never kept.
 *
 * @param exchange the address the list came from: a copy of one exchange says nothing of another
 */
export function formatCopy(exchange: string, { readAtMs, markets }: MarketsCopy): string {
  let leftBytes = maximumBytes;
  const kept = markets.filter((market) => {
    const bytes = Buffer.byteLength(JSON.stringify(market)) + 1;
    if (bytes > leftBytes) return false;
    leftBytes -= bytes;
    return true;
  });
  return JSON.stringify({ exchange, readAtMs, markets: kept });
}

const DecimalText = z
  .string()
  .refine(isDecimalText)
  .transform((text) => parseDecimal(text));

const MarketSchema: z.ZodType<Market> = z.object({
  name: z.string(),
  base: z.string(),
  quote: z.string(),
  amountStep: DecimalText,
  priceStep: DecimalText,
  minAmount: DecimalText,
  minTotal: DecimalText,
  maxTotal: DecimalText.nullable(),
  makerFeeRate: DecimalText,
  takerFeeRate: DecimalText,
  tradesEnabled: z.boolean(),
  isCollateral: z.boolean(),
});

const CopySchema = z.object({
  exchange: z.string(),
  readAtMs: z.int(),
  markets: z.array(z.unknown()),
});

/** @returns null for a copy of another exchange, and for one in which no market can be read */
export function parseCopy(exchange: string, text: string): MarketsCopy | null {
  const copy = CopySchema.safeParse(readJson(text)).data;
  if (copy === undefined || copy.exchange !== exchange) return null;
  const markets = copy.markets.flatMap((market) => MarketSchema.safeParse(market).data ?? []);
  return markets.length === 0 ? null : { readAtMs: copy.readAtMs, markets };
}
