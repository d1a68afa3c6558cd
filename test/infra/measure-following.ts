import { parseDecimal } from '../../lib/base/decimal.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { createDynamodbAccountFacts } from '../../lib/ledger/dynamodb-account-facts.ts';
import { createDynamodbExecutions } from '../../lib/ledger/dynamodb-executions.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import { createFollower } from '../../lib/relay/follow/follow-orders.ts';
import { startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { openFunctions } from '../support/functions.ts';
import { override } from '../support/override.ts';
import { createStackTable } from '../support/stack-tables.ts';
import { meterDynamodb } from './metered-ledger.ts';
import type { Resource } from './synthesized.ts';

/** What following one order uses, from the minute after it was placed to its end. */
export interface FollowingUsage {
  /** Of a run in which nothing is followed, for each account. */
  readonly idleReadUnits: number;
  /** Of a run in which an open order is followed and nothing changes. */
  readonly readUnits: number;
  /** Of the first run, which notes that the order is open, and of the run that stores its fill and its end. */
  readonly writeUnitsOfOrder: number;
}

const measuredAtMs = Date.UTC(2026, 10, 22, 17, 0, 1, 234);
const alert = {
  id: '9f1c2d3e-1',
  ticker: 'BTCUSDT',
  action: 'buy',
  orderType: 'limit',
  quantity: '0.01',
  limitPrice: '49500',
};

/** @param table the ledger's, as the template defines it */
export async function measureFollowing(table: Resource): Promise<FollowingUsage> {
  const dynamodb = await startDynamodb();
  await createStackTable(dynamodb.client, 'ledger', 'ledger');
  const { client, units } = meterDynamodb(dynamodb.relayClient, table);
  const place = { client, tableName: 'ledger', keepDays: 400 };
  const ledger = createDynamodbLedger(place);
  const executions = createDynamodbExecutions(place);
  let nowMs = measuredAtMs;
  const functions = await openFunctions(
    ({ settings }) => ({
      settings: { ...settings, accounts: onlyMain(settings.accounts) },
      ledger: override(ledger, {}),
      executions,
      facts: createDynamodbAccountFacts(place),
    }),
    { nowMs: () => nowMs, sleep: async () => undefined },
  );
  const follower = createFollower(functions.services);
  const run = async () => {
    nowMs += 60_000;
    const before = { ...units };
    await follower.run(Number.POSITIVE_INFINITY);
    return { read: units.read - before.read, write: units.write - before.write };
  };
  try {
    const idle = await run();
    await functions.receive(JSON.stringify(alert));
    await functions.execute(alert.id);
    const first = await run();
    const standing = await run();
    functions.paper.control.setPrice('BTC_USDT', parseDecimal('49500'));
    const last = await run();
    return {
      idleReadUnits: idle.read,
      readUnits: standing.read,
      writeUnitsOfOrder: first.write + last.write,
    };
  } finally {
    await functions.close();
    await dynamodb.close();
  }
}

function onlyMain<Account>(accounts: Readonly<Record<string, Account>>): Readonly<Record<string, Account>> {
  return Object.fromEntries(Object.entries(accounts).filter(([name]) => name === 'main'));
}

/** What one run uses while so many orders are followed and nothing changes. */
export interface RunUsage {
  /** To the exchange. */
  readonly requests: number;
  /** To the ledger. */
  readonly writes: number;
}

/** An entry that fills at once, whose stop-loss and take-profit the relay keeps. */
export const keptEntry = {
  ...alert,
  orderType: 'market',
  limitPrice: undefined,
  maxSlippage: '1%',
  stopLoss: '40000',
  takeProfit: '60000',
};

/** @param order the alert of each order; absent: one that rests */
export async function countRun(orders: number, order: object = alert): Promise<RunUsage> {
  let nowMs = measuredAtMs;
  const functions = await openFunctions(undefined, { nowMs: () => nowMs, sleep: async () => undefined });
  let [requests, writes] = [0, 0];
  const count = (client: ExchangeClient): ExchangeClient =>
    override(client, {
      call: (async (...parts: Parameters<ExchangeClient['call']>) => {
        requests += 1;
        return await client.call(...parts);
      }) as ExchangeClient['call'],
    });
  const { services, paper } = functions;
  const { executions, facts, entrance } = services;
  const written =
    <Parts extends unknown[], Result>(write: (...parts: Parts) => Promise<Result>) =>
    (...parts: Parts) => {
      writes += 1;
      return write(...parts);
    };
  const follower = createFollower({
    ...services,
    settings: { ...services.settings, accounts: onlyMain(services.settings.accounts) },
    executions: override(executions, { record: written((...parts) => executions.record(...parts)) }),
    facts: override(facts, { write: written((...parts) => facts.write(...parts)) }),
    entrance: { accept: written((...parts) => entrance.accept(...parts)) },
    exchangeFor: async (account) => count(await services.exchangeFor(account)),
  });
  const run = async () => {
    nowMs += 60_000;
    await follower.run(Number.POSITIVE_INFINITY);
  };
  try {
    paper.control.setFunds('main', 'collateral', 'USDT', parseDecimal('100000000'));
    for (let index = 0; index < orders; index += 1) {
      await functions.receive(JSON.stringify({ ...order, id: `order-${index}` }));
      await functions.execute(`order-${index}`);
    }
    for (let runs = 0; runs < 3; runs += 1) await run();
    [requests, writes] = [0, 0];
    await run();
    return { requests, writes };
  } finally {
    await functions.close();
  }
}
