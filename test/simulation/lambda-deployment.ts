import type { ScheduleHandler } from '../../lib/host/schedule.ts';
import type { WebhookHandler } from '../../lib/host/webhook.ts';
import { createWorker, type WorkerHandler } from '../../lib/host/worker.ts';
import { parseSignalMessage } from '../../lib/queue/parse-message.ts';
import type { PostponeMessage, SignalMessage } from '../../lib/queue/queue.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import type { ExecuteServices } from '../../lib/relay/services.ts';
import type { Alert } from './alerts.ts';
import { noteDeadLetter, noteRedrive } from './dead-letters.ts';
import type { Deployment, Reply } from './deployment.ts';
import { pickOne, rollWhole } from './dice.ts';
import { type Container, FunctionPool } from './function-pool.ts';
import { keyText } from './history.ts';
import { type Invocation, Process, runInvocation } from './process.ts';
import { nameInvocations, toQueueEvent } from './queue-event.ts';
import { type HeldMessage, QueueService } from './queue-service.ts';
import { composeHandlers, type Handlers, toProxyEvent } from './relay-handlers.ts';
import { createFunctionSecrets } from './secrets.ts';
import { exchangeTimeoutMs, type SimulatedWorld } from './simulated-world.ts';

/** The timeouts that the CDK stack sets. */
const timeoutsMs = { receive: 10_000, execute: 30_000, reconcile: 50_000 };
const timeouts = { exchangeMs: exchangeTimeoutMs, marketsMs: 5000, lookupsMs: 5000 };
const maxReceives = 5;
/** After this time the webhook responds with 503, although the handler may still be running. */
const responseTimeoutMs = 2000;
/** Visibility timeouts, all longer than a function may run. */
const visibilitiesMs = [35_000, 60_000, 180_000] as const;
/** The second delivery comes during preparation, or while the relay waits for a response. */
const longestBeforeDoubleMs = [100, 6000] as const;
const minuteMs = 60_000;

/** A relay on AWS Lambda: sandboxes that come and go, with a queue and stores that persist. */
export class LambdaDeployment implements Deployment {
  readonly #world: SimulatedWorld;
  readonly #service: Process;
  readonly #queue: QueueService;
  readonly #visibilityMs: number;
  readonly #receive: FunctionPool<WebhookHandler>;
  readonly #execute: FunctionPool<WorkerHandler>;
  readonly #reconcile: FunctionPool<ScheduleHandler>;
  /** By receipt: the pause that a worker set for its message. */
  readonly #postponedMs = new Map<string, number>();
  #skewMs = 0;
  #sandboxes = 0;

  constructor(world: SimulatedWorld) {
    this.#world = world;
    this.#service = new Process(world.stage, 'aws', 0);
    this.#visibilityMs = pickOne(world.stage.random, visibilitiesMs);
    this.#queue = new QueueService(this.#service.clock, maxReceives, (letter) =>
      this.#reportDeadLetter(letter),
    );
    this.#receive = new FunctionPool(timeoutsMs.receive, () =>
      this.#open('receive', (handlers) => handlers.receive()),
    );
    this.#execute = new FunctionPool(timeoutsMs.execute, () =>
      this.#open('execute', (handlers, process) =>
        nameInvocations(process, this.#createWorker(handlers.execute(), process)),
      ),
    );
    this.#reconcile = new FunctionPool(timeoutsMs.reconcile, () =>
      this.#open('reconcile', (handlers) => handlers.reconcile()),
    );
  }

  start(): void {
    void this.#deliver();
    this.#reconcileEachMinute();
  }

  /** The gateway responds with 502 for a function that died. */
  async receive(alert: Alert, token: string): Promise<Reply> {
    const late = new Promise<Reply>((resolve) =>
      this.#service.later(responseTimeoutMs, () => resolve({ httpStatus: 503, body: '' })),
    );
    const startedAtMs = this.#world.stage.loop.nowMs;
    const handled = this.#receive.run(({ handler }) =>
      runInvocation({ handlerName: 'receive', name: alert.name, key: null, startedAtMs }, () =>
        handler(toProxyEvent(alert, token)),
      ),
    );
    const reply = handled.then((ended): Reply => {
      if (ended.kind === 'died') return { httpStatus: 502, body: '' };
      return { httpStatus: ended.value.statusCode, body: ended.value.body };
    });
    return await Promise.race([reply, late]);
  }

  async redrive(): Promise<void> {
    noteRedrive(this.#service, this.#queue.redrive());
  }

  setClocks(skewMs: number): void {
    this.#skewMs = skewMs;
    for (const pool of [this.#receive, this.#execute, this.#reconcile])
      for (const process of pool.processes) process.skewMs = skewMs;
  }

  /**
   * Its tokens of other accounts may not be read yet or be outdated, and it may not read exchange keys at
   * all.
   */
  secretsAtWebhook(account: string): readonly string[] {
    return [this.#world.secrets.tokens.get(account)?.current ?? ''];
  }

  /** AWS ends the idle sandboxes. */
  forget(): void {
    for (const pool of [this.#receive, this.#execute, this.#reconcile]) pool.forget();
    this.#service.note('ends idle sandboxes', 'operator: restart');
  }

  busyProcess(): Process | null {
    const [process] = [...this.#execute.atWork, ...this.#receive.atWork, ...this.#reconcile.atWork];
    return process ?? null;
  }

  #open<Handler>(
    handlerName: 'receive' | 'execute' | 'reconcile',
    compose: (handlers: Handlers, process: Process) => Handler,
  ): Container<Handler> {
    this.#sandboxes += 1;
    const world = this.#world;
    const process = new Process(world.stage, `${handlerName}#${this.#sandboxes}`, this.#skewMs);
    const kinds = { tokens: handlerName === 'receive', keys: handlerName !== 'receive' };
    const secrets = createFunctionSecrets(process, world.secrets, kinds);
    const handlers = composeHandlers({
      world,
      process,
      queue: this.#queue,
      secrets,
      timeouts,
    });
    return { process, handler: compose(handlers, process) };
  }

  #createWorker(services: ExecuteServices, process: Process): WorkerHandler {
    const execute = (message: SignalMessage) => process.watch(executeSignal(services, message));
    return createWorker(services.log, execute, this.#postponeIn(process));
  }

  #postponeIn(process: Process): PostponeMessage {
    return (receipt, pauseMs) =>
      process.step('queue.postpone', receipt, async () => {
        this.#postponedMs.set(receipt, pauseMs);
      });
  }

  /** The event source mapping: groups in parallel, and each message in an invocation of its own. */
  async #deliver(): Promise<void> {
    for (;;) {
      const delivery = this.#queue.receive();
      if (delivery === null) await this.#queue.waitForWork();
      else void this.#work(delivery);
    }
  }

  async #work(delivery: HeldMessage): Promise<void> {
    const { loop } = this.#world.stage;
    const deliveredAtMs = loop.nowMs;
    const isLost = this.#perhapsLose(delivery);
    const stopDouble = this.#perhapsDeliverTwice(delivery);
    const ended = await this.#execute.run(({ handler }) => handler(toQueueEvent(delivery)));
    stopDouble();
    if (isLost || (ended.kind === 'returned' && ended.value.batchItemFailures.length === 0)) {
      this.#queue.remove(delivery);
      return;
    }
    const hiddenMs = deliveredAtMs + this.#visibilityMs - loop.nowMs;
    const retryMs = this.#postponedMs.get(delivery.receipt) ?? hiddenMs;
    this.#service.later(retryMs, () => this.#queue.release(delivery));
  }

  /** A message of a purged queue is not delivered again, even if its first delivery failed. */
  #perhapsLose({ body }: HeldMessage): boolean {
    const { faults, history } = this.#world.stage;
    if (!faults.strikes('message_lost')) return false;
    const key = keyText(parseSignalMessage(body));
    this.#service.note(`loses the message of ${key}`, 'hazard: message_lost');
    history.outOfTurn.set(key, 'message lost');
    return true;
  }

  /** A queue may deliver a message again although its first worker is still alive. */
  #perhapsDeliverTwice(delivery: HeldMessage): () => void {
    const { loop, random, faults, history } = this.#world.stage;
    if (!faults.strikes('delivered_twice')) return () => undefined;
    const delayMs = rollWhole(random, 0, pickOne(random, longestBeforeDoubleMs));
    return loop.schedule(delayMs, () => {
      const key = keyText(parseSignalMessage(delivery.body));
      this.#service.note(`delivers ${key} again`, 'hazard: delivered_twice');
      history.outOfTurn.set(key, 'delivered twice');
      this.#queue.release(delivery);
    });
  }

  #reconcileEachMinute(): void {
    this.#service.later(minuteMs, () => this.#reconcileEachMinute());
    const startedAtMs = this.#world.stage.loop.nowMs;
    const invocation: Invocation = { handlerName: 'reconcile', name: '', key: null, startedAtMs };
    // A failed run has logged its error.
    this.#reconcile
      .run(({ handler, process }) => runInvocation(invocation, () => process.watch(handler({}))))
      .catch(() => undefined);
  }

  #reportDeadLetter(letter: HeldMessage): void {
    this.#service.alarms.raise(
      { name: 'signal_dead_lettered', message: 'a message became a dead letter' },
      { group: letter.group },
    );
    noteDeadLetter(this.#world.stage, parseSignalMessage(letter.body));
  }
}
