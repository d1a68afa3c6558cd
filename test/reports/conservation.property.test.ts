import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Decimal, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Fill } from '../../lib/model/execution.ts';
import { applyCommand } from '../../lib/paper/engine/engine.ts';
import { createExchangeState, type ExchangeState } from '../../lib/paper/engine/exchange-state.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import { type BookedDeal, createDealBooks } from '../../lib/reports/book-deals.ts';
import { createLotBooks } from '../../lib/reports/entry-lots.ts';
import { accounts, commandOf, randomSteps, type Step } from '../paper/random-commands.ts';
import { runs } from '../support/runs.ts';
import { paperFills } from './paper-fills.ts';

const seed = 20_261_122;

function run(steps: readonly Step[]): ExchangeState {
  const state = createExchangeState();
  for (const [index, step] of steps.entries()) {
    const command = commandOf(step, state, 1_790_000_000_000 + index);
    if (command !== null) applyCommand(state, command);
  }
  return state;
}

function sum(values: readonly Decimal[]): Decimal {
  return values.reduce((total, value) => total.plus(value), zero);
}

/** The fills of one account in one market, in order. */
function groupFills(state: ExchangeState): readonly (readonly Fill[])[] {
  return [...Map.groupBy(paperFills(state), ({ account, market }) => `${account} ${market}`).values()];
}

/** Closes what is held at a price, so that the open profit is realised, too. */
function closeAt(fills: readonly Fill[], amount: Decimal, price: Decimal): Fill[] {
  const [first] = fills;
  if (first === undefined || amount.eq(zero)) return [];
  const units = amount.abs();
  return [
    {
      ...first,
      dealId: 0,
      orderId: 0,
      side: amount.gt(zero) ? 'sell' : 'buy',
      amount: formatDecimal(units),
      price: formatDecimal(price),
      notional: formatDecimal(units.times(price)),
      fee: '0',
    },
  ];
}

function bookAll(fills: readonly Fill[]): readonly BookedDeal[] {
  const books = new Map(
    fills.map(({ account }) => [account, createDealBooks(() => account.endsWith('spot'))]),
  );
  return fills.flatMap((fill) => books.get(fill.account)?.book(fill, null) ?? []);
}

/** Sold less bought, in quote units: what trading did to the balance, without fees. */
function cashOf(fills: readonly Fill[]): Decimal {
  return sum(
    fills.map(({ side, notional }) =>
      side === 'sell' ? parseDecimal(notional) : parseDecimal(notional).neg(),
    ),
  );
}

describe('against the own books of the paper exchange, whatever was traded:', () => {
  test('the fees are the same, to the last digit', () => {
    fc.assert(
      fc.property(randomSteps, (steps) => {
        const state = run(steps);
        const deals = groupFills(state).flatMap(bookAll);
        const paid = Map.groupBy(deals, ({ fill }) => fill.feeAsset);
        const totals = [...paid].map(([asset, group]) => [
          asset,
          formatDecimal(sum(group.map(({ fee }) => fee))),
        ]);
        const charged = [...state.fees].map(([asset, fee]) => [asset, formatDecimal(fee)]);
        expect(Object.fromEntries(totals)).toEqual(Object.fromEntries(charged));
      }),
      { seed, numRuns: runs(300) },
    );
  });

  test('on the collateral account, realised and open profit are the cash that came in, to the last digit, and what the exchange books', () => {
    let traded = 0;
    fc.assert(
      fc.property(randomSteps, (steps) => {
        const state = run(steps);
        for (const account of accounts)
          for (const fills of groupFills(state)) {
            const [first] = fills;
            if (first?.account !== `${account} collateral`) continue;
            traded += 1;
            const { market } = first;
            const open = [...(state.accounts.get(account)?.collateral.positions.values() ?? [])].find(
              (position) => position.market === market,
            );
            const price = state.prices.get(market) ?? zero;
            const all = [...fills, ...closeAt(fills, open?.amount ?? zero, price)];
            const gross = sum(bookAll(all).map(({ profit }) => profit));

            // The truncated quotients of a part of the cost are given back by the rest of it.
            expect(formatDecimal(gross)).toBe(formatDecimal(cashOf(all)));
            const closed = state.closedPositions.filter(
              (position) => position.account === account && position.market === market,
            );
            const booked = sum([
              ...closed.map(({ realizedPnl }) => realizedPnl),
              open?.realizedPnl ?? zero,
              open === undefined ? zero : price.minus(open.basePrice).times(open.amount),
            ]);
            // With each fill the exchange rounds the base price of the whole position to eight places.
            const most = sum(fills.map(({ amount }) => parseDecimal(amount)));
            const rounding = most.times(String(fills.length)).times('0.000000005');
            expect(gross.minus(booked).abs().lte(rounding)).toBe(true);
          }
      }),
      { seed, numRuns: runs(300) },
    );
    expect(traded).toBeGreaterThan(runs(200));
  });

  test('on the spot account, the profit less fees is the cash that came in, to the last digit', () => {
    let traded = 0;
    fc.assert(
      fc.property(randomSteps, (steps) => {
        const state = run(steps);
        for (const fills of groupFills(state)) {
          const [first] = fills;
          if (first === undefined || !first.account.endsWith('spot')) continue;
          traded += 1;
          const held = heldOf(fills);
          const price = state.prices.get(first.market) ?? marketNamed(first.market).startPrice;
          const all = [...fills, ...closeAt(fills, held, price)];
          const deals = bookAll(all);
          const unknown = sum(deals.map(({ unmatched, fill }) => unmatched.times(fill.price)));
          const quoteFees = sum(
            fills.map(({ fee, feeAsset }) => (feeAsset === deals[0]?.quote ? parseDecimal(fee) : zero)),
          );

          // What was sold beyond what was bought has no profit, and its whole price came in.
          expect(formatDecimal(sum(deals.map(({ net }) => net)).plus(unknown))).toBe(
            formatDecimal(cashOf(all).minus(quoteFees)),
          );
        }
      }),
      { seed, numRuns: runs(300) },
    );
    expect(traded).toBeGreaterThan(runs(200));
  });

  test('on the collateral account, what the entries made when all is closed is the cash that came in', () => {
    fc.assert(
      fc.property(randomSteps, (steps) => {
        const state = run(steps);
        for (const account of accounts)
          for (const fills of groupFills(state)) {
            const [first] = fills;
            if (first?.account !== `${account} collateral`) continue;
            const held = sum(
              fills.map(({ side, amount }) =>
                side === 'buy' ? parseDecimal(amount) : parseDecimal(amount).neg(),
              ),
            );
            const price = state.prices.get(first.market) ?? zero;
            const all = [...fills, ...closeAt(fills, held, price)];
            const books = createLotBooks(() => false);
            for (const fill of all) books.book(fill);
            const ids = [...new Set(all.map(({ signalId }) => signalId))];
            const lots = ids.flatMap((signalId) => books.lotOf({ account: first.account, signalId }) ?? []);
            const fees = sum(all.map(({ fee }) => parseDecimal(fee)));

            // The parts of a fee that falls on several entries are truncated quotients.
            const made = sum(lots.map(({ profit }) => profit));
            expect(formatDecimal(made.round(20, 1))).toBe(formatDecimal(cashOf(all).minus(fees)));
            expect(formatDecimal(sum(lots.map(({ realised }) => realised)))).toBe(formatDecimal(made));
            expect(lots.filter(({ left }) => !left.eq(zero))).toEqual([]);
          }
      }),
      { seed, numRuns: runs(200) },
    );
  });
});

/** Bought and not sold, less the fees of buys; a sale of more than that sells what was there before. */
function heldOf(fills: readonly Fill[]): Decimal {
  return fills.reduce((held, { side, amount, fee }) => {
    const units = parseDecimal(amount);
    if (side === 'buy') return held.plus(units).minus(parseDecimal(fee));
    return units.gt(held) ? zero : held.minus(units);
  }, zero);
}
