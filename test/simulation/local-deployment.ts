import { startWorkerLoop } from '../../infra/local/worker-loop.ts';
import type { ScheduleHandler } from '../../lib/host/schedule.ts';
import type { WebhookHandler } from '../../lib/host/webhook.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import type { SignalSource } from '../../lib/queue/queue.ts';
import { createSqliteQueue, type SqliteQueue } from '../../lib/queue/sqlite-queue.ts';
import { messagesOf } from '../../lib/relay/message-of.ts';
import { sweepAccepted } from '../../lib/relay/sweep-accepted.ts';
import type { Alert } from './alerts.ts';
import { noteDeadLetters, redriveFromOutside } from './dead-letters.ts';
import type { Deployment, Reply } from './deployment.ts';
import { rollWhole } from './dice.ts';
import { type Invocation, Process, runInvocation } from './process.ts';
import { nameInvocations } from './queue-event.ts';
import { composeHandlers, type Handlers, toProxyEvent } from './relay-handlers.ts';
import { createLocalSecrets, listSecrets } from './secrets.ts';
import { exchangeTimeoutMs, type SimulatedWorld } from './simulated-world.ts';

const maxReceives = 5;
const outsiderCheckMs = 500;
const minuteMs = 60_000;
const longestRestartMs = 15_000;

/** A relay in one process, composed like the local relay, and restarted whenever it dies. */
export class LocalDeployment implements Deployment {
  readonly #world: SimulatedWorld;
  readonly #operator: Process;
  #skewMs = 0;
  #starts = 0;
  #process: Process | null = null;
  #queue: SqliteQueue | null = null;
  /** Null while the process does not listen. */
  #webhook: WebhookHandler | null = null;

  constructor(world: SimulatedWorld) {
    this.#world = world;
    this.#operator = new Process(world.stage, 'operator', 0);
  }

  start(): void {
    this.#starts += 1;
    const process = new Process(this.#world.stage, `relay#${this.#starts}`, this.#skewMs);
    this.#process = process;
    process.onDeath(() => this.#scheduleRestart(process));
    this.#open(process).catch((error: unknown) => process.die(`could not start: ${String(error)}`));
  }

  async receive(alert: Alert, token: string): Promise<Reply> {
    const process = this.#process;
    const webhook = this.#webhook;
    if (process === null || webhook === null || !process.isAlive) return 'broken';
    const death = new Promise<Reply>((resolve) => process.onDeath(() => resolve('broken')));
    const awake = new Promise<void>((resolve) => process.later(0, resolve));
    return await Promise.race([death, awake.then(() => this.#handle(process, webhook, alert, token))]);
  }

  async redrive(): Promise<void> {
    const count = await redriveFromOutside(this.#operator, this.#world.databasePath);
    if (count > 0) this.#process?.later(outsiderCheckMs, () => this.#queue?.takeInOutsiders());
  }

  setClocks(skewMs: number): void {
    this.#skewMs = skewMs;
    if (this.#process !== null) this.#process.skewMs = skewMs;
  }

  /** A local relay has all secrets in one file. */
  secretsAtWebhook(): readonly string[] {
    return listSecrets(this.#world.secrets, this.#world.stage.loop.nowMs);
  }

  forget(): void {
    this.#process?.die('restarted', 'operator: restart');
  }

  busyProcess(): Process | null {
    return this.#process;
  }

  async #open(process: Process): Promise<void> {
    const world = this.#world;
    const queue = createSqliteQueue(world.file, {
      maxReceives,
      clock: process.clock,
      onDeadLetter: ({ group }) => {
        process.alarms.raise(
          { name: 'signal_dead_lettered', message: 'a message became a dead letter' },
          { group },
        );
        void noteDeadLetters(world.stage, queue);
      },
    });
    this.#queue = queue;
    const timeouts = {
      exchangeMs: exchangeTimeoutMs,
      marketsMs: exchangeTimeoutMs,
      lookupsMs: exchangeTimeoutMs,
    };
    const secrets = createLocalSecrets(process, world.secrets);
    const ledger = createSqliteLedger(world.file, (entries) => queue.stage(messagesOf(entries)));
    const handlers = composeHandlers({ world, process, queue, ledger, secrets, timeouts });
    await sweepAccepted(handlers.stores());
    this.#webhook = handlers.receive();
    startWorkerLoop(sourceOf(process, queue), nameInvocations(process, handlers.execute()), process.log);
    this.#reconcileEachMinute(process, handlers);
  }

  /** Like the minute loop: at once, then every minute, and never two runs at the same time. */
  #reconcileEachMinute(process: Process, handlers: Handlers): void {
    const handler = handlers.reconcile();
    let isRunning = false;
    const begin = () => {
      process.later(minuteMs, begin);
      if (isRunning) return;
      isRunning = true;
      void reconcile(process, handler).finally(() => {
        isRunning = false;
      });
    };
    begin();
  }

  #scheduleRestart(process: Process): void {
    if (this.#process === process) this.#webhook = null;
    const { loop, random } = this.#world.stage;
    loop.schedule(rollWhole(random, 100, longestRestartMs), () => this.start());
  }

  async #handle(process: Process, webhook: WebhookHandler, alert: Alert, token: string): Promise<Reply> {
    const startedAtMs = this.#world.stage.loop.nowMs;
    const invocation: Invocation = { handlerName: 'receive', name: alert.name, key: null, startedAtMs };
    const { statusCode, body } = await runInvocation(invocation, () => webhook(toProxyEvent(alert, token)));
    return process.isAlive ? { httpStatus: statusCode, body } : 'broken';
  }
}

/** Ignores the error of a failed run, which is already logged. */
async function reconcile(process: Process, handler: ScheduleHandler): Promise<void> {
  const startedAtMs = process.stage.loop.nowMs;
  const invocation: Invocation = { handlerName: 'reconcile', name: '', key: null, startedAtMs };
  await runInvocation(invocation, () => handler({})).catch(() => undefined);
}

/** Only the methods that write to the disk are steps that can fail; deliveries are in memory. */
function sourceOf(process: Process, queue: SqliteQueue): SignalSource {
  return {
    receive: (maxMessages) => queue.receive(maxMessages),
    waitForWork: (signal) => queue.waitForWork(signal),
    remove: (receipts) => process.step('queue.remove', receipts.join(), () => queue.remove(receipts)),
    release: (receipts) => process.step('queue.release', receipts.join(), () => queue.release(receipts)),
  };
}
