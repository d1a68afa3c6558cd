import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Profiler, Session } from 'node:inspector/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A server under measurement, in a process of its own, so that its CPU time is its own too. */
export interface BenchProcess {
  readonly url: string;
  /** User and system time of the whole process so far, in microseconds. */
  readCpuMicros(): Promise<number>;
  /** Watches what the main thread does, until the profile is taken. */
  startProfile(): Promise<void>;
  takeProfile(): Promise<Profiler.Profile>;
  /** Hears every line the process writes to its standard output. */
  onLine(listener: (line: string) => void): void;
  /** Lets the process end by itself and waits for that. */
  stop(): Promise<void>;
}

/** What a process can be asked, and what it answers; `ready` it says unasked. */
interface Answers {
  readonly ready: { readonly url: string };
  readonly cpu: { readonly micros: number };
  readonly 'start-profile': null;
  readonly 'take-profile': Profiler.Profile;
}
type Question = Exclude<keyof Answers, 'ready'> | 'stop';

/**
 * Starts a script of this folder.
 *
 * @throws Error when the script ends before it is ready
 */
export async function startProcess(script: string, args: readonly string[] = []): Promise<BenchProcess> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  async function ask<Q extends keyof Answers & Question>(question: Q): Promise<Answers[Q]> {
    const response = nextResponse<Q>(child);
    child.send(question);
    return await response;
  }
  const { url } = await nextResponse<'ready'>(child);
  return {
    url,
    readCpuMicros: async () => (await ask('cpu')).micros,
    startProfile: async () => void (await ask('start-profile')),
    takeProfile: () => ask('take-profile'),
    onLine: (listener) => lines.on('line', listener),
    async stop() {
      const exited = once(child, 'exit');
      child.send('stop' satisfies Question);
      await exited;
    },
  };
}

function nextResponse<Q extends keyof Answers>(child: ChildProcess): Promise<Answers[Q]> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => {
      child.off('message', onMessage);
      reject(new Error(`a process of the benchmark ended with code ${code}; its own words stand above`));
    };
    const onMessage = (response: unknown) => {
      child.off('exit', onExit);
      resolve(response as Answers[Q]);
    };
    child.once('exit', onExit).once('message', onMessage);
  });
}

const samplingMicros = 200;

/** The other end: says where the server listens, answers what it is asked, and ends with the process that started it. */
export function serveParent(server: { readonly url: string; close(): Promise<void> }): void {
  const session = new Session();
  const answers: { readonly [Q in keyof Answers & Question]: () => Promise<Answers[Q]> } = {
    async cpu() {
      const { user, system } = process.cpuUsage();
      return { micros: user + system };
    },
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
  process.on('message', async (question: Question) => {
    if (question === 'stop') process.disconnect();
    else process.send?.(await answers[question]());
  });
  process.once('disconnect', () => void server.close());
  process.send?.({ url: server.url } satisfies Answers['ready']);
}
