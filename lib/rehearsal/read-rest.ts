import { type Decimal, floorToStep, formatDecimal, minimum, zero } from '../base/decimal.ts';
import { tradeBalance } from '../exchange/endpoints/trade-balance.ts';
import { listAccountDeals } from '../exchange/list-account.ts';
import { listPositionsIn } from '../exchange/list-positions.ts';
import type { Opened } from './end-sent.ts';
import type { SentOrder } from './rehearsal-book.ts';
import { askUntilSeen, readPrices, type Stage } from './stage.ts';

/** What of the rehearsal's fills is still held. */
export type Rest =
  | { readonly kind: 'none' }
  /** In base units; below zero for a short position. */
  | { readonly kind: 'open'; readonly amount: Decimal }
  /** Something else has traded in the market, so nobody knows what is the rehearsal's. */
  | { readonly kind: 'strange'; readonly left: string };

const none: Rest = { kind: 'none' };

/** @throws ExchangeError when the exchange cannot be asked */
export async function readRest(stage: Stage, sent: readonly SentOrder[], opened: Opened): Promise<Rest> {
  if (!opened.hasFilled) return none;
  return stage.ground === 'spot' ? await readBought(stage, opened) : await readHeld(stage, sent, opened);
}

/** What was bought on spot, without the fee: less than the exchange takes as an order stays. */
async function readBought(stage: Stage, { net }: Opened): Promise<Rest> {
  const { client, market, limits } = stage;
  const balances = await client.call(tradeBalance, {}, limits);
  const free = balances[market.base]?.available ?? zero;
  const amount = floorToStep(minimum(net, free), market.amountStep);
  const prices = await readPrices(stage);
  if (prices === null || amount.lt(leastSale(prices.bid, stage))) return none;
  return { kind: 'open', amount };
}

function leastSale(bid: Decimal, { market }: Stage): Decimal {
  const byTotal = market.minTotal.div(bid);
  return byTotal.gt(market.minAmount) ? byTotal : market.minAmount;
}

/**
 * The list of positions may lag behind the fills, so it is read until it shows them. A short position that is listed with
 * the wrong sign is the rehearsal's, too: the order that closes it can only reduce.
 */
async function readHeld(stage: Stage, sent: readonly SentOrder[], opened: Opened): Promise<Rest> {
  const { name } = stage.market;
  const read = async () => ({
    held: await readAmount(stage),
    expected: await expectAmount(stage, sent, opened),
  });
  const seen = await askUntilSeen(stage, async () => {
    const { held, expected } = await read();
    return held?.abs().eq(expected.abs()) === true ? { held, expected } : null;
  });
  const { held, expected } = seen?.value ?? (await read());
  if (held === null) return { kind: 'strange', left: `positions of both sides in ${name}` };
  if (held.eq(zero)) return none;
  if (seen !== null) return { kind: 'open', amount: expected };
  const { net } = opened;
  const isOwn = held.gt(zero) === net.gt(zero) && held.abs().lte(net.abs());
  if (isOwn) return { kind: 'open', amount: held };
  const left = `a position of ${formatDecimal(held)} in ${name} that is not the rehearsal's alone`;
  return { kind: 'strange', left };
}

/** The amount of the position, with its sign; null when there are two, as in hedge mode. */
async function readAmount({ client, clock, market, limits }: Stage): Promise<Decimal | null> {
  const positions = await listPositionsIn(client, market.name, clock.nowMs(), limits);
  if (positions.length > 1) return null;
  return positions[0]?.amount ?? zero;
}

/** What the fills of the rehearsal, and those of the exits that the exchange made, come to. */
async function expectAmount(
  { client, market, limits }: Stage,
  sent: readonly SentOrder[],
  { net, orderIds }: Opened,
): Promise<Decimal> {
  const fromMs = Math.min(...sent.map(({ atMs }) => atMs));
  const deals = await listAccountDeals(client, fromMs, limits);
  return deals
    .filter((deal) => deal.market === market.name && deal.atMs >= fromMs && !orderIds.has(deal.orderId))
    .reduce((sum, { side, amount }) => (side === 'buy' ? sum.plus(amount) : sum.minus(amount)), net);
}
