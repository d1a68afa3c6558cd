import { startWorkerLoop } from '../../infra/local/worker-loop.ts';
import { createSqliteFile, type ScheduleFlush } from '../../lib/base/sqlite.ts';
import type { ScheduleHandler } from '../../lib/host/schedule.ts';
import type { WebhookHandler } from '../../lib/host/webhook.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import type { SignalMessage } from '../../lib/queue/queue.ts';
import { createSqliteLine, type SqliteLine } from '../../lib/queue/sqlite-line.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import type { Follower } from '../../lib/relay/follow/follow-orders.ts';
import type { Alert } from './alerts.ts';
import { noteDeadLetter, redriveFromOutside } from './dead-letters.ts';
import type { Deployment, Reply } from './deployment.ts';
import { rollWhole } from './dice.ts';
import { type Invocation, Process, runInvocation, slowestStepMs } from './process.ts';
import { composeHandlers, type Handlers, toProxyEvent } from './relay-handlers.ts';
import { createLocalSecrets, listSecrets } from './secrets.ts';
import { exchangeTimeoutMs, type SimulatedWorld } from './simulated-world.ts';
import { createRefusingDisk, steppedLine } from './stepped-line.ts';

const maxDeliveries = 5;
const changesCheckMs = 500;
/** How long the first operation of a transaction waits for its flush at most. */
const longestFlushMs = 6;
const minuteMs = 60_000;
const longestRestartMs = 15_000;
const followEveryMs = 60_000;
const longestFollowMs = 30_000;

/** A relay in one process, composed like the local relay, and restarted whenever it dies. */
export class LocalDeployment implements Deployment {
  readonly #world: SimulatedWorld;
  readonly #operator: Process;
  #skewMs = 0;
  #starts = 0;
  #process: Process | null = null;
  #line: SqliteLine | null = null;
  /** Null while the process does not listen. */
  #webhook: WebhookHandler | null = null;

  constructor(world: SimulatedWorld) {
    this.#world = world;
    this.#operator = new Process(world.stage, 'operator', 0);
  }

  start(): void {
    this.#starts += 1;
    const process = new Process(this.#world.stage, `relay#${this.#starts}`, this.#skewMs, true);
    this.#process = process;
    process.onDeath(() => {
      this.#loseTransaction();
      this.#scheduleRestart(process);
    });
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
    this.#world.localFlush.run?.();
    const count = await redriveFromOutside(this.#operator, this.#world.databasePath);
    if (count > 0) this.#process?.later(changesCheckMs, () => this.#line?.takeInChanges());
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
    const sound = createSqliteFile(world.file.database, { scheduleFlush: this.#flushOf(process) });
    const file = world.mutation.file?.(sound) ?? sound;
    const disk = createRefusingDisk(file);
    const line = createSqliteLine(disk.file, {
      maxDeliveries,
      clock: process.clock,
      onDeadLetter: ({ group, key }) => {
        process.alarms.raise(
          { name: 'signal_dead_lettered', message: 'a signal became a dead letter' },
          { group },
        );
        noteDeadLetter(world.stage, key);
      },
    });
    this.#line = line;
    const timeouts = {
      exchangeMs: exchangeTimeoutMs,
      marketsMs: exchangeTimeoutMs,
      lookupsMs: exchangeTimeoutMs,
    };
    const secrets = createLocalSecrets(process, world.secrets);
    const ledger = createSqliteLedger(file, line);
    const records = { executions: createSqliteExecutions(file), facts: createSqliteAccountFacts(file) };
    const handlers = composeHandlers({ world, process, queue: null, ledger, ...records, secrets, timeouts });
    this.#webhook = handlers.receive();
    const services = handlers.execute();
    startWorkerLoop(
      steppedLine(process, world.mutation.line?.(line) ?? line, disk),
      (signal) => runExecution(process, signal, () => process.watch(executeSignal(services, signal))),
      process.log,
    );
    this.#reconcileEachMinute(process, handlers);
    this.#follow(process, handlers);
  }

  /** Flushes a moment after the first operation of a transaction, or fails, or never: a power cut comes before it. */
  #flushOf(process: Process): ScheduleFlush {
    const { localFlush, stage, file } = this.#world;
    return (flush) => {
      const fault = stage.faults.atStore('file.flush');
      const run = () => {
        localFlush.run = null;
        flush();
      };
      localFlush.run = run;
      const delayMs = rollWhole(stage.random, 0, fault === 'slow' ? slowestStepMs : longestFlushMs);
      process.later(delayMs, () => {
        if (localFlush.run !== run) return;
        process.note('flushes', fault === null ? null : `store: ${fault}`);
        if (fault === 'crash_before') return process.die('before the flush');
        if (fault === 'fail_before' && file.database.isTransaction) file.database.exec('ROLLBACK');
        run();
        if (fault === 'crash_after') process.die('after the flush');
      });
    };
  }

  /** What was executed and not flushed is gone with its process. */
  #loseTransaction(): void {
    const { localFlush, file } = this.#world;
    localFlush.run = null;
    if (file.database.isTransaction) file.database.exec('ROLLBACK');
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

  /** A local relay follows every few seconds; the turns are rarer here, because each costs time of the simulation. */
  #follow(process: Process, handlers: Handlers): void {
    const follower = handlers.follow();
    let isRunning = false;
    const begin = () => {
      process.later(process.stage.followPauseMs?.() ?? followEveryMs, begin);
      if (isRunning) return;
      isRunning = true;
      void follow(process, follower).finally(() => {
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
  await runInvocation(invocation, () => process.watch(handler({}))).catch(() => undefined);
}

/** Ignores the error of a failed run; the next one tries again. */
async function follow(process: Process, follower: Follower): Promise<void> {
  const startedAtMs = process.stage.loop.nowMs;
  const invocation: Invocation = { handlerName: 'reconcile', name: 'follow', key: null, startedAtMs };
  const notAfterMs = process.clock.nowMs() + longestFollowMs;
  await runInvocation(invocation, () => process.watch(follower.run(notAfterMs))).catch(() => undefined);
}

/** Runs the execution of a signal as an invocation named after it. */
function runExecution<T>(process: Process, { account, signalId }: SignalMessage, run: () => T): T {
  const startedAtMs = process.stage.loop.nowMs;
  return runInvocation(
    { handlerName: 'execute', name: signalId, key: { account, signalId }, startedAtMs },
    run,
  );
}
