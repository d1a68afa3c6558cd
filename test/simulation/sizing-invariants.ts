import {
  type Decimal,
  floorToStep,
  maximum,
  minimum,
  one,
  parseDecimal,
  rateOfPercent,
  zero,
} from '../../lib/base/decimal.ts';
import type { Step } from '../../lib/ledger/entry.ts';
import { isQuoteSized } from '../../lib/model/order.ts';
import { allowanceOf, boundAt, oppositePrices } from './book-prices.ts';
import type { History } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { type ReadingName, readingsFor } from './readings.ts';
import { describeSent, listSentOrders, type SentOrder } from './sent-orders.ts';

/**
 * Finds orders whose amount or price does not follow from their signal and from readings of the wire that were young
 * enough, or whose entry does not say what they were sized on. The computation is the simulation's own.
 */
export function findWrongSizes(facts: Facts): readonly Violation[] {
  const all = listSentOrders(facts);
  return all.flatMap((sent) => {
    const bought = boughtBy(facts, sent);
    return (
      checkSize(facts.history, { ...sent, bought, worst: worstOf(sent, all) }) ?? checkRecord(sent) ?? []
    );
  });
}

/** What further tries of a close are bound by: the prices that its first order was sent with; none of any other order. */
function worstOf({ entry, account }: SentOrder, all: readonly SentOrder[]): readonly Decimal[] {
  const first = entry.signalId.replace(/:rest-\d$/, '');
  if (first === entry.signalId) return [];
  const sent = all.filter((one) => one.entry.signalId === first && one.account.name === account.name);
  return sent.flatMap(({ price }) => price ?? []);
}

interface SaleOrBuy extends SentOrder {
  /** What the account has bought of its market before, in base units. */
  readonly bought: Decimal;
  /** Prices beyond which it must not fill: one of them holds; empty: none does. */
  readonly worst: readonly Decimal[];
}

function boughtBy({ exchange }: Facts, { account, market, send }: SentOrder): Decimal {
  return exchange.deals
    .filter((deal) => deal.market === market.name && deal.side === 'buy' && deal.atMs <= send.atMs)
    .filter((deal) => deal.account === account.name)
    .reduce((sum, { amount }) => sum.plus(amount), zero);
}

/** The ledger must hold what was read and the result before the order is on the wire. */
function checkRecord(sent: SentOrder): Violation | null {
  const { signal, entry, amount } = sent;
  if (signal.orderType !== 'market' && signal.size.unit !== 'percent') return null;
  const sending = entry.steps.find(({ status }) => status === 'sending');
  const { sizedOn, amount: result } = (sending?.evidence ?? {}) as {
    readonly sizedOn?: { readonly readAtMs: number };
    readonly amount?: string;
  };
  const [before = zero, inAll = zero] = listSoldByStops(sent);
  const sold = [zero, before, inAll, inAll.minus(before)].map((one) => amount.plus(one).toFixed());
  const isSaid = sizedOn !== undefined && result !== undefined && sold.includes(result);
  return isSaid ? null : broken(sent, 'was sent although its entry does not say what it was sized on');
}

/** The prices that an order was made with. */
interface Pricing {
  /** The limit price that it must have; null: any. */
  readonly price: Decimal | null;
  /** What one base unit costs. */
  readonly unitPrice: Decimal;
}

function checkSize(history: History, sent: SaleOrBuy): Violation | null {
  const { signal, amount, market, price } = sent;
  const pricings = listPricings(history, sent);
  if (pricings.length === 0) return broken(sent, 'was priced on no order book that was read within 5 s');
  const fitting = pricings.filter((pricing) => pricing.price === null || price?.eq(pricing.price) !== false);
  if (fitting.length === 0)
    return broken(sent, `has the price ${price?.toFixed()}, which no order book gives`);
  const sizes = fitting.flatMap(({ unitPrice }) => listSizes(history, sent, unitPrice));
  if (sizes.length === 0) return broken(sent, 'was sized on nothing of its account that was read within 5 s');
  const step = isQuoteSized(sent) ? market.priceStep : market.amountStep;
  // Rounded down; the order of the operations may decide the last step.
  const fits = sizes.some((size) => floorToStep(size, step).minus(amount).abs().lte(step));
  const expected = sizes.map((size) => floorToStep(size, step).toFixed()).join(' or ');
  return fits
    ? null
    : broken(sent, `has another amount than its ${signal.size.unit} size gives, ${expected}`);
}

function broken(sent: SentOrder, what: string): Violation {
  return { invariant: 'I17', harm: 'other', text: `${describeSent(sent)} ${what}` };
}

function listPricings(history: History, sent: SaleOrBuy): readonly Pricing[] {
  const { signal, price, stopPrice, side, worst } = sent;
  if (isSoldAtBest(sent))
    return oppositePrices(history, sent).map((best) => ({
      price: null,
      unitPrice: price?.gt(best) === true ? price : best,
    }));
  if (signal.orderType !== 'market') return [{ price: null, unitPrice: price ?? stopPrice ?? zero }];
  const rate = allowanceOf(sent);
  return oppositePrices(history, sent).flatMap((opposite): readonly Pricing[] => {
    if (rate === null) return [{ price: null, unitPrice: opposite }];
    const bound = boundAt(opposite, rate, sent);
    const bounds = worst.map((most) => (side === 'buy' ? minimum(bound, most) : maximum(bound, most)));
    return (worst.length === 0 ? [bound] : bounds).map((most) => ({
      price: most,
      unitPrice: side === 'buy' ? most : opposite,
    }));
  });
}

/** A limit sell below the best bid fetches that bid, so a quote amount buys fewer base units of it. */
function isSoldAtBest({ signal, side }: SentOrder): boolean {
  if (signal.orderType !== 'limit' || side !== 'sell' || signal.postOnly === true) return false;
  return signal.size.unit !== 'base';
}

/** The amounts that the order may have, not rounded: one for each reading that it may have been sized on. */
function listSizes(history: History, sent: SaleOrBuy, unitPrice: Decimal): readonly Decimal[] {
  const { signal, limits, market, side } = sent;
  const { size } = signal;
  const fromQuote = (quote: Decimal) => (isQuoteSized(sent) ? quote : quote.div(unitPrice));
  const fromBase = (base: Decimal) => (isQuoteSized(sent) ? base.times(unitPrice) : base);
  const rests = (asked: Decimal) => listSoldByStops(sent).map((sold) => asked.minus(sold));
  const cut = (asked: Decimal) =>
    [asked, ...rests(asked)].flatMap((rest) => [rest, ...listCuts(history, sent, rest)]);
  if (size.unit === 'base') return cut(fromBase(parseDecimal(size.quantity)));
  if (size.unit === 'quote') return cut(fromQuote(parseDecimal(size.quoteQuantity)));
  const rate = rateOfPercent(size.quantityPercent);
  const read = (name: ReadingName) => readingsFor(history, sent.send, market.name, name);
  if (size.of === 'position')
    return read('positions').flatMap((body) => reducible(body, sent).map((open) => open.times(rate)));
  if (limits.tradesOn === 'spot') {
    const ticker = side === 'buy' ? market.quote : market.base;
    const shares = read('spot').map((body) => sellableOf(body, ticker, sent).times(rate));
    return side === 'buy' ? shares.map(fromQuote) : shares.flatMap((share) => [share, ...rests(share)]);
  }
  const terms =
    limits.tradesOn === 'futures' ? read('futures').map((body) => termsOf(body, market.name)) : [marginTerms];
  return read('summary').flatMap((body) =>
    terms.map((most) => notionalOf(body, rate, most, market.takerFeeRate).div(unitPrice)),
  );
}

/**
 * What a spot sale may be cut to: all that a reading shows as available, if no more is missing than the fees of what alerts
 * have bought in the market.
 */
function listCuts(history: History, sent: SaleOrBuy, asked: Decimal) {
  const { send, limits, market, side, bought } = sent;
  if (limits.tradesOn !== 'spot' || side !== 'sell') return [];
  const fee = (bought.gt(asked) ? bought : asked).times(market.takerFeeRate);
  return readingsFor(history, send, market.name, 'spot')
    .flatMap((body) => [availableOf(body, market.base), sellableOf(body, market.base, sent)])
    .filter((available) => available.lt(asked) && asked.minus(available).lte(fee.plus(market.amountStep)));
}

/**
 * What stop-losses had sold of a sale on spot, as the entry says: before it was planned, and with what they sold before they
 * could be cancelled.
 */
function listSoldByStops({ entry }: SentOrder): readonly Decimal[] {
  const soldIn = ({ note }: Pick<Step, 'note'>) =>
    [...note.matchAll(/has sold ([0-9.]+) of it already/g)].map(([, amount = '0']) => parseDecimal(amount));
  const sending = entry.steps.filter(({ status }) => status === 'sending');
  return [sending, entry.steps].map((steps) =>
    steps.flatMap(soldIn).reduce((sum, amount) => sum.plus(amount), zero),
  );
}

interface Held {
  readonly market: string;
  readonly amount: string | null;
}

function reducible(body: unknown, { market, side }: SentOrder): readonly Decimal[] {
  return (body as readonly Held[])
    .filter((held) => held.market === market.name)
    .map(({ amount }) => parseDecimal(amount ?? '0'))
    .filter((amount) => (side === 'sell' ? amount.gt(zero) : amount.lt(zero)))
    .map((amount) => amount.abs());
}

/**
 * What the relay's own stop-losses hold can be sold, too: as much as the entry says, if so much is held. What the entry says
 * that it leaves to other strategies cannot; I46 says how much that is.
 */
function sellableOf(body: unknown, ticker: string, { entry }: SentOrder): Decimal {
  const sending = entry.steps.find(({ status }) => status === 'sending')?.evidence as
    | {
        readonly sizedOn?: {
          readonly holding?: { readonly heldByStops?: string; readonly leftToOthers?: string };
        };
      }
    | undefined;
  const balances = body as Readonly<Record<string, { readonly freeze: string } | undefined>>;
  const frozen = parseDecimal(balances[ticker]?.freeze ?? '0');
  const { heldByStops = '0', leftToOthers = '0' } = sending?.sizedOn?.holding ?? {};
  const told = parseDecimal(heldByStops);
  const there = availableOf(body, ticker).plus(told.lte(frozen) ? told : zero);
  return maximum(there.minus(parseDecimal(leftToOthers)), zero);
}

function availableOf(body: unknown, ticker: string): Decimal {
  const balances = body as Readonly<Record<string, { readonly available: string } | undefined>>;
  return parseDecimal(balances[ticker]?.available ?? '0');
}

/** What a market allows: the highest leverage, and up to which notional each leverage holds. */
interface Terms {
  readonly maxLeverage: number;
  readonly brackets: Readonly<Record<string, string | number>>;
}

const marginTerms: Terms = { maxLeverage: 10, brackets: {} };

function termsOf(body: unknown, market: string): Terms {
  const { result } = body as {
    readonly result: readonly {
      readonly ticker_id: string;
      readonly max_leverage: number | string;
      readonly brackets: Terms['brackets'];
    }[];
  };
  const found = result.find(({ ticker_id }) => ticker_id === market);
  return found === undefined
    ? marginTerms
    : { maxLeverage: Number(found.max_leverage), brackets: found.brackets };
}

const leverageBeyondBracket = parseDecimal('10');

/** The notional whose margin and fee a share of the free collateral pays for. */
function notionalOf(
  body: unknown,
  rate: Decimal,
  { maxLeverage, brackets }: Terms,
  feeRate: Decimal,
): Decimal {
  const summary = body as {
    readonly freeMargin: string;
    readonly futuresFreeMargin?: string;
    readonly leverage: number;
  };
  const isFutures = Object.keys(brackets).length > 0;
  const free = parseDecimal((isFutures ? summary.futuresFreeMargin : undefined) ?? summary.freeMargin);
  const leverage = Math.min(summary.leverage, maxLeverage);
  const budget = free.times(rate);
  const paidFor = (by: Decimal, money: Decimal) => money.times(by).div(one.plus(feeRate.times(by)));
  const notional = paidFor(parseDecimal(String(leverage)), budget);
  const bracket = parseDecimal(String(brackets[leverage] ?? 0));
  if (bracket.eq(zero) || notional.lte(bracket)) return notional;
  const within = bracket.times(one.plus(feeRate.times(String(leverage)))).div(String(leverage));
  return bracket.plus(paidFor(leverageBeyondBracket, budget.minus(within)));
}
