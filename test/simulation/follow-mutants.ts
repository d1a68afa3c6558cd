import { type Decimal, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import type { Fill } from '../../lib/model/execution.ts';
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
    name: 'unprotected-unseen',
    breaks: 'a position without its stop-loss raises no alarm',
    seeds: 300,
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
