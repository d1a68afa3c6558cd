import * as z from 'zod/mini';
import { isDecimalText, parseDecimal } from '../base/decimal.ts';
import { readJson } from '../base/json.ts';
import { isPerpetualName, type Market } from '../model/market.ts';

/** The rules of some markets, read from the exchange at one time. */
export interface MarketsCopy {
  readonly readAtMs: number;
  readonly markets: readonly Market[];
}

/**
 * Stores the newest copy of the exchange's market list, for a
 * relay that starts while the exchange does not respond.
 */
export interface MarketCopies {
  /**
   * The copy saved last for this exchange; null when there is none, or when this release cannot read it.
   *
   * @throws RelayError `store_unavailable`
   */
  load(): Promise<MarketsCopy | null>;
  /**
   * Replaces the stored copy.
   *
   * @throws RelayError `store_unavailable`
   */
  save(copy: MarketsCopy): Promise<void>;
}

/**
 * Well below the 400 KB limit of a DynamoDB item; enough for some thousand markets.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
const maximumBytes = 300_000;

/**
 * The JSON text that stores keep; amounts stay exact, because decimals
 * serialise as text. Markets that do not fit are left out: the relay then
 * requests them from the exchange, as it does markets that were never stored.
 *
 * @param exchange the address the list came from, because a copy is valid for one exchange only
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

const DecimalText = z.pipe(
  z.string().check(z.refine(isDecimalText)),
  z.transform((text) => parseDecimal(text)),
);

/** Older releases stored base and quote currency as `stock` and `money`, and not whether a market is a perpetual. */
const MarketSchema: z.ZodMiniType<Market> = z.pipe(
  z.transform(readOlder),
  z.object({
    name: z.string(),
    base: z.string(),
    quote: z.string(),
    amountStep: DecimalText,
    priceStep: DecimalText,
    minAmount: DecimalText,
    minTotal: DecimalText,
    maxTotal: z.nullable(DecimalText),
    makerFeeRate: DecimalText,
    takerFeeRate: DecimalText,
    tradesEnabled: z.boolean(),
    isCollateral: z.boolean(),
    isFutures: z.boolean(),
  }),
);

function readOlder(value: unknown): unknown {
  const { stock, money, ...market } = Object(value) as Readonly<Record<string, unknown>>;
  return { base: stock, quote: money, isFutures: isPerpetualName(String(market['name'])), ...market };
}

const CopySchema = z.object({
  exchange: z.string(),
  readAtMs: z.int(),
  markets: z.array(z.unknown()),
});

/** @returns null for a copy of another exchange, and for a copy without a readable market */
export function parseCopy(exchange: string, text: string): MarketsCopy | null {
  const copy = CopySchema.safeParse(readJson(text)).data;
  if (copy === undefined || copy.exchange !== exchange) return null;
  const markets = copy.markets.flatMap((market) => MarketSchema.safeParse(market).data ?? []);
  return markets.length === 0 ? null : { readAtMs: copy.readAtMs, markets };
}
