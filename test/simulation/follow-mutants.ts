import { type Decimal, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import { type Fill, fillNameOf, isOfSignal } from '../../lib/model/execution.ts';
import { override } from '../support/override.ts';
import type { Mutant } from './mutation.ts';

/** Broken variants of the relay that follow orders wrongly. */
export const followMutants: readonly Mutant[] = [
  {
    name: 'fill-counted-twice',
    breaks: 'the fills of each reading are added to those that were counted before',
    seeds: 100,
    dialect: 'live',
    mutation: { executions: countTwice },
  },
  {
    name: 'fill-invented',
    breaks: 'a fill is made from what the order says that it filled, instead of from its deals',
    seeds: 100,
    fromSeed: 23,
    dialect: 'live',
    mutation: { executions: inventFills },
  },
  {
    name: 'end-forgotten',
    breaks: 'an order that no longer counts as open is not followed to the end of its exits',
    seeds: 100,
    dialect: 'live',
    mutation: {
      executions: (executions) =>
        override(executions, {
          followed: async (account, limit) =>
            (await executions.followed(account, limit)).filter(({ orderOpen }) => orderOpen),
        }),
    },
  },
  {
    name: 'deals-by-hand-dropped',
    breaks: 'deals that belong to no signal are read and not stored',
    seeds: 100,
    dialect: 'live',
    // Only positions of strategies are traded by hand so that it fills, and those send market orders only.
    kinds: ['market'],
    mutation: { executions: (executions) => override(executions, { recordOthers: async () => undefined }) },
  },
  {
    name: 'deals-by-hand-kept',
    breaks: 'a deal that was stored as of no signal stays so when it turns out to be of one',
    seeds: 300,
    fromSeed: 72,
    dialect: 'live',
    // Mostly the limits of risk read deals before they are followed, and runs with one kind of order have none.
    kinds: [],
    mutation: { executions: keepOthers },
  },
  {
    name: 'side-by-hand-guessed',
    breaks: 'a deal that belongs to no signal is stored without its side of hedge mode',
    seeds: 1000,
    fromSeed: 760,
    dialect: 'live',
    kinds: [],
    mutation: {
      executions: (executions) =>
        override(executions, {
          recordOthers: (fills) => executions.recordOthers(fills.map(({ positionSide: _, ...fill }) => fill)),
        }),
    },
  },
  {
    name: 'spot-by-hand-as-margin',
    breaks: 'a deal by hand on spot is stored as one that changed a position',
    seeds: 100,
    fromSeed: 133,
    dialect: 'live',
    kinds: [],
    mutation: {
      executions: (executions) =>
        override(executions, {
          recordOthers: (fills) => executions.recordOthers(fills.map(({ onSpot: _, ...fill }) => fill)),
        }),
    },
  },
  {
    name: 'unnamed-error',
    breaks: 'no deals in a range of time is an error that the relay has no name for',
    seeds: 100,
    dialect: 'live',
    kinds: [],
    mutation: {
      executions: (executions, { handlerName }) =>
        handlerName === 'resolve'
          ? executions
          : override(executions, {
              async listFills(query) {
                const page = await executions.listFills(query);
                if (page.fills.length === 0) throw new TypeError('there is no first deal');
                return page;
              },
            }),
    },
  },
  {
    name: 'report-of-signals',
    breaks: 'a report leaves out the deals that belong to no signal',
    seeds: 100,
    dialect: 'live',
    // With limits of risk or guarded positions, the owner trades so that it fills.
    kinds: [],
    mutation: {
      executions: (executions, { handlerName }) =>
        handlerName !== 'resolve'
          ? executions
          : override(executions, {
              async listFills(query) {
                const page = await executions.listFills(query);
                return { ...page, fills: page.fills.filter(isOfSignal) };
              },
            }),
    },
  },
  {
    name: 'unprotected-unseen',
    breaks: 'a position without its stop-loss raises no alarm',
    seeds: 300,
    fromSeed: 171,
    dialect: 'live',
    mutation: {
      alarms: (alarms) => ({
        raise(alarm, facts) {
          if (alarm.name !== 'position_unprotected') alarms.raise(alarm, facts);
        },
      }),
    },
  },
];

/** What a reading shows is added to what was counted before. */
function countTwice(executions: Executions): Executions {
  const counted = new Map<string, Decimal>();
  return override(executions, {
    record(key, execution, fills) {
      const orders = execution.orders.map((order) => {
        const name = `${key.account} ${order.orderId}`;
        const filled = parseDecimal(order.filled).plus(counted.get(name) ?? zero);
        counted.set(name, filled);
        return { ...order, filled: formatDecimal(filled) };
      });
      return executions.record(key, { ...execution, orders }, fills);
    },
  });
}

/** What was stored as of no signal is left out of the fills of a signal. */
function keepOthers(executions: Executions): Executions {
  const others = new Set<string>();
  return override(executions, {
    async recordOthers(fills) {
      await executions.recordOthers(fills);
      for (const fill of fills) others.add(fillNameOf(fill));
    },
    record: (key, execution, fills) =>
      executions.record(
        key,
        execution,
        fills.filter((fill) => !others.has(fillNameOf(fill))),
      ),
  });
}

/** One fill for all that the order filled, at the average price. */
function inventFills(executions: Executions): Executions {
  return override(executions, {
    record(key, execution, fills) {
      const [first, ...rest] = fills;
      const order = execution.orders.find(({ orderId }) => orderId === first?.orderId);
      if (first === undefined || order === undefined) return executions.record(key, execution, fills);
      const invented: Fill = { ...first, amount: order.filled, notional: order.filledNotional };
      const others = rest.filter(({ orderId }) => orderId !== first.orderId);
      return executions.record(key, execution, [invented, ...others]);
    },
  });
}
