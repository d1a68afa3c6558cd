import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDataFolder } from '../../lib/host/data-folder.ts';
import { createWebhook } from '../../lib/host/webhook.ts';
import { createWorker } from '../../lib/host/worker.ts';
import { createDynamodbAccountFacts } from '../../lib/ledger/dynamodb-account-facts.ts';
import { createDynamodbExecutions } from '../../lib/ledger/dynamodb-executions.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { PaperExchange } from '../../lib/paper/server/server.ts';
import { deduplicationIdOf, type SignalMessage, type SignalQueue } from '../../lib/queue/queue.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { createQueuedEntrance } from '../../lib/relay/receive/queued-entrance.ts';
import { receiveSignal } from '../../lib/relay/receive/receive-signal.ts';
import { runMinute } from '../../lib/relay/settle/run-minute.ts';
import { startDynamodb } from './dynamodb/start-dynamodb.ts';
import { proxyEvent, queueEvent } from './functions.ts';
import { createManualClock } from './manual-clock.ts';
import { createMovedClock } from './moved-clock.ts';
import { override } from './override.ts';
import { openServices } from './relay-services.ts';
import { createStackTable } from './stack-tables.ts';
import { openWorld, type World } from './world.ts';

/** A whole relay, in one of its two forms, with a paper exchange and a clock that can be moved on. */
export interface Stage {
  readonly paper: PaperExchange;
  /** Posts an alert; it must be accepted. */
  post(alert: object): Promise<void>;
  /** The entry, once nothing more will happen to it by itself. */
  settled(signalId: string): Promise<Entry>;
  /** What the entry is now. */
  entry(signalId: string): Promise<Entry | null>;
  /** Runs the reconciler, and then whatever waits. */
  reconcile(): Promise<void>;
  nowMs(): number;
  advance(durationMs: number): void;
  /** Starts the relay anew on the same store. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** The local relay: HTTP, SQLite, a worker of its own. */
export async function openLocalStage(): Promise<Stage> {
  const path = mkdtempSync(join(tmpdir(), 'relay-stage-'));
  const folder = createDataFolder(path);
  const clock = createMovedClock();
  const open = () => openWorld({ dialect: 'live', clock, folder });
  let world: World = await open();
  return {
    get paper() {
      return world.paper;
    },
    async post(alert) {
      const { status, body } = await world.post(JSON.stringify(alert));
      if (status !== 202) throw new Error(`refused: ${JSON.stringify(body)}`);
    },
    settled: (signalId) => world.settled(signalId),
    entry: (signalId) => world.ledger.read({ account: 'main', signalId }),
    reconcile: () => world.reconcile(),
    nowMs: () => clock.nowMs(),
    advance: clock.advance,
    async restart() {
      await world.close();
      world = await open();
    },
    async close() {
      await world.close();
      rmSync(path, { recursive: true });
    },
  };
}

/** After these the queue makes a message a dead letter. */
const mostDeliveries = 5;

/** The functions as AWS calls them: DynamoDB, a FIFO queue that drops duplicates, the reconciler each minute. */
export async function openAwsStage(): Promise<Stage> {
  const clock = createManualClock(Date.UTC(2026, 10, 22, 12));
  const dynamodb = await startDynamodb();
  await createStackTable(dynamodb.client, 'ledger', 'ledger');
  const place = { client: dynamodb.relayClient, tableName: 'ledger', keepDays: 400 };
  const ledger = createDynamodbLedger(place);
  const parts = await openServices({ dialect: 'live', clock });
  const line = createFifoQueue();
  const services = {
    ...parts.services,
    executions: createDynamodbExecutions(place),
    facts: createDynamodbAccountFacts(place),
    queue: line.queue,
  };
  const receiving = { ...services, ledger: override(ledger, createQueuedEntrance(ledger, line.queue)) };
  const receive = createWebhook(services.log, (request) => receiveSignal(receiving, request));
  const executing = { ...services, ledger };
  const execute = createWorker(
    services.log,
    (message) => executeSignal(executing, message),
    async () => undefined,
  );

  async function isHandled(message: SignalMessage, receiveCount: number): Promise<boolean> {
    const event = queueEvent(message.signalId, JSON.stringify(message), undefined, receiveCount);
    return (await execute(event)).batchItemFailures.length === 0;
  }

  async function deliver(): Promise<void> {
    for (let message = line.take(); message !== null; message = line.take()) {
      for (let count = 1; !(await isHandled(message, count)); count += 1)
        if (count === mostDeliveries) throw new Error(`${message.signalId} was not handled`);
    }
  }

  return {
    paper: parts.paper,
    async post(alert) {
      const { statusCode, body } = await receive(proxyEvent(JSON.stringify(alert)));
      if (statusCode !== 202) throw new Error(`refused: ${body}`);
      await deliver();
    },
    async settled(signalId) {
      const entry = await ledger.read({ account: 'main', signalId });
      if (entry === null || ['accepted', 'sending'].includes(entry.status))
        throw new Error(`${signalId} is ${entry?.status}`);
      return entry;
    },
    entry: (signalId) => ledger.read({ account: 'main', signalId }),
    async reconcile() {
      await runMinute(executing, null);
      await deliver();
    },
    nowMs: () => clock.nowMs(),
    advance: clock.advance,
    restart: async () => undefined,
    async close() {
      await parts.close();
      await dynamodb.close();
    },
  };
}

function createFifoQueue(): { readonly queue: SignalQueue; take(): SignalMessage | null } {
  const waiting: SignalMessage[] = [];
  const known = new Set<string>();
  return {
    queue: {
      async enqueue(message, attempt) {
        const id = deduplicationIdOf(message, attempt);
        if (known.has(id)) return;
        known.add(id);
        waiting.push(message);
      },
    },
    take: () => waiting.shift() ?? null,
  };
}
