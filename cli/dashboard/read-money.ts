import * as z from 'zod';
import type { ShownFill } from '../../dashboard/documents.ts';
import { type Decimal, formatDecimal, one, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { RelayError } from '../../lib/base/errors.ts';
import { ticker as tickerEndpoint } from '../../lib/exchange/endpoints/ticker.ts';
import { listFills } from '../../lib/ledger/executions.ts';
import { dollars } from '../../lib/model/market.ts';
import { CommandFailure } from '../failure.ts';
import { askExchange, timeoutMs } from '../session/exchange.ts';
import type { Session } from '../session/session.ts';

const BalancesDocument = z.looseObject({
  account: z.string(),
  fromMs: z.number(),
  untilMs: z.number(),
  rows: z.array(z.looseObject({ atMs: z.number(), held: z.record(z.string(), z.string()).nullable() })),
});

/** The quote currency in which everything is added up. */
const quote = 'USDT';

/** More would hide the line. */
const mostFills = 400;

/**
 * Adds to what `relay balances` says what each row was worth, at the prices of now: older ones are not recorded. A currency
 * without a market in USDT is named and left out. And the fills that happened meanwhile.
 */
export async function describeHeld(session: Session, balances: unknown): Promise<object> {
  const document = BalancesDocument.parse(balances);
  const [prices, fills] = await Promise.all([readPrices(session), readFills(session, document)]);
  const unpriced = new Set<string>();
  const rows = document.rows.map(({ held, ...row }) => {
    if (held === null) return { ...row, held, worth: null };
    let worth = zero;
    for (const [asset, amount] of Object.entries(held)) {
      const price = priceOf(prices, asset);
      if (price === null) unpriced.add(asset);
      else worth = worth.plus(parseDecimal(amount).times(price));
    }
    return { ...row, held, worth: formatDecimal(worth.round(2)) };
  });
  return { ...document, rows, quote, unpriced: [...unpriced].sort(), fills };
}

async function readFills(
  session: Session,
  { account, fromMs, untilMs }: z.output<typeof BalancesDocument>,
): Promise<readonly ShownFill[]> {
  const fills: ShownFill[] = [];
  for await (const fill of listFills(session.openExecutions(), account, fromMs, untilMs)) {
    const { dealId, atMs, side, amount, market, price, signalId } = fill;
    fills.push({ dealId, atMs, side, text: `${side} ${amount} ${market} at ${price}`, signalId });
    if (fills.length > mostFills) fills.shift();
  }
  return fills;
}

/** Empty when the exchange cannot be read: balances are shown without it, too. */
async function readPrices(session: Session): Promise<Readonly<Record<string, Decimal>>> {
  try {
    return await askExchange(session, null, (client) => client.call(tickerEndpoint, {}, { timeoutMs }));
  } catch (error) {
    if (error instanceof RelayError || error instanceof CommandFailure) return {};
    throw error;
  }
}

function priceOf(prices: Readonly<Record<string, Decimal>>, asset: string): Decimal | null {
  if (dollars.has(asset)) return one;
  return prices[`${asset}_${quote}`] ?? null;
}
