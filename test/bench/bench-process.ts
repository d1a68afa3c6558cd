import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Profiler, Session } from 'node:inspector/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** CPU time since the start of a process, user and system together, in microseconds. */
export interface CpuTime {
  /** Of all threads: the main one, the garbage collector's, the compiler's, and those of libuv. */
  readonly processMicros: number;
  readonly mainThreadMicros: number;
}

/** An order that the exchange stub received, and when, as `readMonotonicMs` reads the time. */
export type Arrival = readonly [clientOrderId: string, atMs: number];

/** What a process can be asked, with its answer. A process answers those that concern it. */
interface Answers {
  readonly cpu: CpuTime;
  readonly 'start-profile': null;
  readonly 'take-profile': Profiler.Profile;
  /** The exchange stub: the orders since the last time it was asked. */
  readonly 'take-arrivals': readonly Arrival[];
  /** The exchange stub: from now on, orders wait for their responses. */
  readonly hold: null;
  /** The exchange stub: waiting orders get their responses, and later ones do not wait. */
  readonly release: null;
  /** The relay: runs the reconciler once, and says how many milliseconds it took. */
  readonly reconcile: number;
}
type Question = keyof Answers;
type Answering = { readonly [Q in Question]: () => Answers[Q] | Promise<Answers[Q]> };

/** A program under measurement, in a process of its own, so that its CPU time is its own too. */
export interface BenchProcess {
  readonly url: string;
  /** @throws Error when the process ends instead */
  ask<Q extends Question>(question: Q): Promise<Answers[Q]>;
  /** Calls the listener with every line that the process writes to its standard output. */
  onLine(listener: (line: string) => void): void;
  /** Lets the process end by itself and waits for that. */
  stop(): Promise<void>;
}

/**
 * The time in milliseconds, from a clock that all processes of a machine share and that never jumps.
 * `performance.now` counts from the start of its own process.
 */
export function readMonotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * Starts a script of this folder.
 *
 * @throws Error when the script ends before it is ready
 */
export async function startProcess(script: string, args: readonly string[] = []): Promise<BenchProcess> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const url = (await nextMessage(child, script)) as string;
  return {
    url,
    async ask<Q extends Question>(question: Q) {
      const answer = nextMessage(child, script);
      child.send(question);
      return (await answer) as Answers[Q];
    },
    onLine: (listener) => lines.on('line', listener),
    async stop() {
      const exited = once(child, 'exit');
      child.send('stop');
      await exited;
    },
  };
}

function nextMessage(child: ChildProcess, script: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => {
      child.off('message', onMessage);
      reject(new Error(`${script} ended with code ${code}; the reason stands above`));
    };
    const onMessage = (message: unknown) => {
      child.off('exit', onExit);
      resolve(message);
    };
    child.once('exit', onExit).once('message', onMessage);
  });
}

const samplingMicros = 200;

/**
 * The other end: says where the server listens, answers what it is asked, and ends with the process that started it.
 *
 * @param own the answers that only this program has
 */
export function serveParent(
  server: { readonly url: string; close(): Promise<void> },
  own: Partial<Answering> = {},
): void {
  const answering: Partial<Answering> = { cpu: readCpu, ...profileMainThread(), ...own };
  process.on('message', async (question: Question | 'stop') => {
    if (question === 'stop') process.disconnect();
    else process.send?.(await answering[question]?.());
  });
  process.once('disconnect', () => void server.close());
  process.send?.(server.url);
}

function readCpu(): CpuTime {
  const all = process.cpuUsage();
  const main = process.threadCpuUsage();
  return { processMicros: all.user + all.system, mainThreadMicros: main.user + main.system };
}

function profileMainThread(): Pick<Answering, 'start-profile' | 'take-profile'> {
  const session = new Session();
  return {
    async 'start-profile'() {
      session.connect();
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: samplingMicros });
      await session.post('Profiler.start');
      return null;
    },
    async 'take-profile'() {
      const { profile } = await session.post('Profiler.stop');
      session.disconnect();
      return profile;
    },
  };
}
