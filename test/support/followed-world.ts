import type { Clock } from '../../lib/base/clock.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { createDynamodbAccountFacts } from '../../lib/ledger/dynamodb-account-facts.ts';
import { createDynamodbExecutions } from '../../lib/ledger/dynamodb-executions.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Fill } from '../../lib/model/execution.ts';
import type { PaperExchange } from '../../lib/paper/server/server.ts';
import { startDynamodb } from './dynamodb/start-dynamodb.ts';
import { openFunctions } from './functions.ts';
import { override } from './override.ts';
import { createStackTable } from './stack-tables.ts';
import { openWorld } from './world.ts';

/** A whole relay in one of its two forms, on a clock that moves by hand. */
export interface FollowedWorld {
  readonly clock: Clock;
  readonly paper: PaperExchange;
  /** Sends an alert, and waits until its signal is settled. */
  send(alert: string): Promise<Entry>;
  entry(signalId: string): Promise<Entry>;
  fills(): Promise<readonly Fill[]>;
  /** Moves the clock, and lets the relay read what became of its orders. */
  followAfter(ms: number): Promise<void>;
  /** The facts of the alarms that a position has no stop-loss. */
  unprotected(): readonly Readonly<Record<string, unknown>>[];
  /** The names of all alarms, oldest first. */
  alarmNames(): readonly unknown[];
  close(): Promise<void>;
}

export const followedStartMs = 1_790_000_000_000;

/** `local`: the local relay over HTTP and SQLite; `aws`: the handlers of the functions over DynamoDB. */
export const forms = ['local', 'aws'] as const;

export function openFollowedWorld(form: (typeof forms)[number]): Promise<FollowedWorld> {
  return form === 'local' ? openLocal() : openAws();
}

function createClock() {
  let nowMs = followedStartMs;
  const clock = { nowMs: () => nowMs, sleep: async () => undefined };
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { clock, advance };
}

const allFills = { account: 'main', fromMs: 0, untilMs: 2 * followedStartMs, limit: 100 };

async function openLocal(): Promise<FollowedWorld> {
  const { clock, advance } = createClock();
  const world = await openWorld({ dialect: 'live', clock });
  world.setPrice('BTC_USDT', '50000');
  return {
    clock,
    paper: world.paper,
    async send(alert) {
      const { body } = await world.post(alert);
      return await world.settled(body.signalId ?? '');
    },
    entry: (signalId) => world.settled(signalId),
    fills: async () => (await world.executions.listFills(allFills)).fills,
    async followAfter(ms) {
      advance(ms);
      await world.follow();
    },
    unprotected: () =>
      world.logged.map(({ facts }) => facts).filter((facts) => facts['isPositionRead'] !== undefined),
    alarmNames: () => world.logged.flatMap(({ facts }) => facts['alarmName'] ?? []),
    close: () => world.close(),
  };
}

async function openAws(): Promise<FollowedWorld> {
  const { clock, advance } = createClock();
  const dynamodb = await startDynamodb();
  await createStackTable(dynamodb.client, 'ledger', 'ledger');
  const table = { client: dynamodb.relayClient, tableName: 'ledger', keepDays: 400 };
  const ledger = createDynamodbLedger(table);
  const executions = createDynamodbExecutions(table);
  const functions = await openFunctions(
    () => ({
      ledger: override(ledger, {}),
      executions,
      facts: createDynamodbAccountFacts(table),
      commandOptions: ' --stack relay-test --region eu-central-1',
    }),
    clock,
  );
  functions.paper.control.setPrice('BTC_USDT', parseDecimal('50000'));
  async function entry(signalId: string): Promise<Entry> {
    const found = await ledger.read({ account: 'main', signalId });
    if (found === null) throw new Error(`there is no signal "${signalId}"`);
    return found;
  }
  return {
    clock,
    paper: functions.paper,
    async send(alert) {
      const { body } = await functions.receive(alert);
      const { signalId } = JSON.parse(body) as { readonly signalId: string };
      await functions.execute(signalId);
      return await entry(signalId);
    },
    entry,
    fills: async () => (await executions.listFills(allFills)).fills,
    async followAfter(ms) {
      advance(ms);
      await functions.reconcile();
    },
    unprotected: () => functions.raised.filter(({ name }) => name === 'position_unprotected'),
    alarmNames: () => functions.raised.map(({ name }) => name),
    async close() {
      await functions.close();
      await dynamodb.close();
    },
  };
}
