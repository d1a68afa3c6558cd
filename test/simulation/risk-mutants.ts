import type { Clock } from '../../lib/base/clock.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { Json } from '../../lib/base/json.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { endedOrder } from '../../lib/exchange/endpoints/ended-order.ts';
import { openOrder } from '../../lib/exchange/endpoints/open-order.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import type { EndedOrder } from '../../lib/exchange/list-account.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import type { Account, RiskLimits } from '../../lib/model/account.ts';
import type { OpenPosition } from '../../lib/model/holdings.ts';
import { override } from '../support/override.ts';
import { changeAccounts, changeCalls, changeRecords, emptyPage } from './mutate.ts';
import type { Mutant } from './mutation.ts';

function withoutMaxPosition({ markets, ...account }: Account): Account {
  const changed = Object.entries(markets).map(([name, limits]) => [name, { ...limits, maxPosition: null }]);
  return { ...account, markets: Object.fromEntries(changed) };
}

function without(name: keyof RiskLimits): (account: Account) => Account {
  return (account) =>
    account.limits === undefined ? account : { ...account, limits: { ...account.limits, [name]: null } };
}

/** Reports every position as one that has neither gained nor lost. */
function hideLosses(client: ExchangeClient): ExchangeClient {
  return changeCalls(client, (name, _, ask) =>
    name === openPositions.name
      ? ask().then((page) =>
          changeRecords<OpenPosition>(page, (positions) =>
            positions.map((position) => ({ ...position, floatingProfit: parseDecimal('0') })),
          ),
        )
      : undefined,
  );
}

/** Reads the ended orders of the account, and shows none. */
function hideEnded(client: ExchangeClient): ExchangeClient {
  return changeCalls(client, (name, params, ask) =>
    name === endedOrder.name && !('clientOrderId' in params) && !('startDate' in params)
      ? ask().then((page) => changeRecords<EndedOrder>(page, () => []))
      : undefined,
  );
}

/** Lists only the fills of the last ten seconds. */
function forgetFills(executions: Executions, clock: Clock): Executions {
  return override(executions, {
    async listFills(query) {
      const page = await executions.listFills(query);
      return { ...page, fills: page.fills.filter(({ atMs }) => atMs > clock.nowMs() - 10_000) };
    },
  });
}

/** A kept reading of the positions in which nothing was held just now. */
function heldNothing(clock: Clock): Json {
  return { readAtMs: clock.nowMs(), positions: [] };
}

/** Broken variants of the relay that send orders beyond the limits of risk. */
export const riskMutants: readonly Mutant[] = [
  {
    name: 'no-max-position',
    breaks: 'the largest position of a market is not checked',
    seeds: 300,
    fromSeed: 83,
    dialect: 'live',
    kinds: [],
    mutation: { settings: changeAccounts(withoutMaxPosition) },
  },
  {
    name: 'position-alone',
    breaks: 'open orders do not count against the largest position and the open notional',
    seeds: 300,
    fromSeed: 4,
    dialect: 'live',
    kinds: [],
    mutation: {
      client: (client, { handlerName }) =>
        handlerName !== 'execute'
          ? client
          : changeCalls(client, (name, params) =>
              name === openOrder.name && !('clientOrderId' in params)
                ? Promise.resolve(emptyPage)
                : undefined,
            ),
      ledger: (ledger, { handlerName }) =>
        handlerName !== 'execute' ? ledger : override(ledger, { openOrders: async () => [] }),
    },
  },
  {
    name: 'no-open-notional',
    breaks: 'what positions and orders of the account are worth together is not checked',
    seeds: 300,
    fromSeed: 55,
    dialect: 'live',
    kinds: [],
    mutation: { settings: changeAccounts(without('maxOpenNotional')) },
  },
  {
    name: 'no-daily-loss',
    breaks: 'the loss of the day is not checked',
    seeds: 300,
    fromSeed: 4,
    dialect: 'live',
    kinds: [],
    mutation: { settings: changeAccounts(without('maxDailyLoss')) },
  },
  {
    name: 'losses-forgotten',
    breaks: 'what was realised more than ten seconds ago does not count in the loss of the day',
    seeds: 300,
    fromSeed: 298,
    dialect: 'live',
    kinds: [],
    mutation: {
      executions: (executions, { process, handlerName }) =>
        handlerName === 'resolve' ? executions : forgetFills(executions, process.clock),
    },
  },
  {
    name: 'reductions-forgotten',
    breaks: 'a position that has visibly become smaller, of which no deal is listed yet, has lost nothing',
    seeds: 300,
    fromSeed: 8340,
    dialect: 'live',
    kinds: [],
    mutation: {
      facts: (facts, { handlerName, process }) =>
        handlerName === 'execute'
          ? override(facts, {
              read: async (account, name) =>
                name === 'positions' ? heldNothing(process.clock) : facts.read(account, name),
            })
          : facts,
    },
  },
  {
    name: 'ended-forgotten',
    breaks: 'an order that is listed as ended, and of which no deal is listed yet, has lost nothing',
    seeds: 600,
    fromSeed: 7_001_206,
    dialect: 'live',
    kinds: [],
    mutation: {
      client: (client, { handlerName }) => (handlerName === 'execute' ? hideEnded(client) : client),
    },
  },
  {
    name: 'no-cool-down',
    breaks: 'nothing is waited for after a loss',
    seeds: 300,
    fromSeed: 72,
    dialect: 'live',
    kinds: [],
    mutation: { settings: changeAccounts(without('coolDownMs')) },
  },
  {
    name: 'floating-forgotten',
    breaks: 'the floating profit of positions does not count in the loss of the day',
    seeds: 400,
    fromSeed: 241,
    dialect: 'live',
    kinds: [],
    mutation: { client: hideLosses },
  },
  {
    name: 'no-windows',
    breaks: 'orders are sent outside the trading windows of the account',
    seeds: 100,
    fromSeed: 32,
    dialect: 'live',
    kinds: [],
    mutation: { settings: changeAccounts(without('tradingWindows')) },
  },
];
