import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type DataFolder, readRun } from '../../lib/host/data-folder.ts';
import type { Ways } from '../../lib/notices/channels.ts';

/** A relay process that ended by itself, or not as it was told to. */
export interface OwnEnd {
  /** Whether it had started completely. */
  readonly wasReady: boolean;
  /** Whether the disk was full when it started, or when it ended. */
  readonly diskWasFull: boolean;
  readonly exitCode: number | null;
  /** The end of its standard error. */
  readonly lastWords: string;
}

/** A service manager for one relay: it restarts the process whenever it ends. */
export interface RelayKeeper {
  /** The URL of the last relay that started; its process may have ended. */
  url(): string;
  /**
   * Resolves when a relay has started.
   *
   * @throws Error when starts fail repeatedly, and not because the disk is full
   */
  waitUntilReady(): Promise<void>;
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>;
  /** Sends SIGTERM, and SIGKILL if it does not end; resolves when the next one has started. */
  restart(): Promise<void>;
  /** Runs its reconciler once; resolves when the run has ended. */
  reconcile(): Promise<void>;
  /** Resolves when the process that runs now, or starts next, has ended. */
  waitUntilEnded(): Promise<void>;
  /** Ends it as `restart` does, without starting another one. */
  stop(): Promise<void>;
  /** Sends SIGKILL without waiting, and starts no other one. */
  abandon(): void;
  readonly counts: { readonly kills: number; readonly starts: number };
  readonly ownEnds: readonly OwnEnd[];
  /** When its processes ended, however they did. */
  readonly endedAtMs: readonly number[];
}

/** How the next process is started. */
export interface RelayStart {
  readonly environment: Readonly<Record<string, string>>;
  readonly nodeOptions: readonly string[];
}

const pauseBeforeRestartMs = 100;
const mostFailedStarts = 5;
/** The longest time for a shutdown: far longer than a request to the exchange may take. */
const longestEndMs = 20_000;
const lastWordsLength = 2000;
const script = fileURLToPath(new URL('relay-process.ts', import.meta.url));

export function startKeeper(options: {
  readonly folder: DataFolder;
  readonly exchangeUrl: string;
  /** How the services of the notices are reached. */
  readonly ways: Ways;
  readonly isDiskFull: () => boolean;
  /** Called with every line of the relay's standard output and standard error. */
  readonly onLine: (line: string) => void;
  /** Called before each start, when the process before has ended. */
  readonly prepareStart?: () => RelayStart;
  /** Whether the process that has just ended killed itself where it was told to. */
  readonly hasCutItself?: () => boolean;
}): RelayKeeper {
  const { folder, exchangeUrl, ways, isDiskFull, onLine, prepareStart, hasCutItself } = options;
  const counts = { kills: 0, starts: 0 };
  const ownEnds: OwnEnd[] = [];
  const endedAtMs: number[] = [];
  let isOver = false;
  let child: ChildProcess | null = null;
  let endedWith: NodeJS.Signals | null = null;
  let url = '';
  let failedStarts = 0;
  let ready = createMoment();
  let ended = createMoment();

  async function runOnce(): Promise<void> {
    const { environment, nodeOptions } = prepareStart?.() ?? { environment: {}, nodeOptions: [] };
    const args = [...nodeOptions, script, exchangeUrl, folder.path, JSON.stringify(ways)];
    const relay = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, ...environment },
    });
    const exited = once(relay, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    const wasFullAtStart = isDiskFull();
    let [wasReady, lastWords] = [false, ''];
    child = relay;
    endedWith = null;
    relay.once('exit', () => {
      child = null;
      endedAtMs.push(Date.now());
      if (wasReady) ready = createMoment();
      ended.resolve();
      ended = createMoment();
    });
    createInterface({ input: relay.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      if (line !== 'ready') return onLine(line);
      // The process may have been killed before this line was read.
      if (child !== relay) return;
      wasReady = true;
      failedStarts = 0;
      counts.starts += 1;
      url = readRun(folder)?.relayUrl ?? '';
      ready.resolve();
    });
    createInterface({ input: relay.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      lastWords = `${lastWords}\n${line}`.slice(-lastWordsLength);
      onLine(line);
    });
    const [exitCode, signal] = await exited;
    // After SIGTERM the exit code must be 0.
    if (endedWith === 'SIGKILL' || (endedWith === 'SIGTERM' && exitCode === 0)) return;
    if (signal === 'SIGKILL' && hasCutItself?.() === true) return;
    const diskWasFull = wasFullAtStart || isDiskFull();
    ownEnds.push({ wasReady, diskWasFull, exitCode, lastWords: `${signal ?? ''} ${lastWords}`.trim() });
    if (wasReady || diskWasFull) return;
    failedStarts += 1;
    if (failedStarts < mostFailedStarts) return;
    isOver = true;
    ready.reject(new Error(`the relay did not start ${failedStarts} times in a row: ${lastWords}`));
  }

  async function keep(): Promise<void> {
    while (!isOver) {
      await runOnce();
      await sleep(pauseBeforeRestartMs);
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const relay = child;
    if (relay === null) return;
    endedWith = signal;
    const exited = once(relay, 'exit');
    const patience = setTimeout(() => {
      const lastWords = `it did not end within ${longestEndMs} ms of ${signal}`;
      ownEnds.push({ wasReady: true, diskWasFull: isDiskFull(), exitCode: null, lastWords });
      endedWith = 'SIGKILL';
      relay.kill('SIGKILL');
    }, longestEndMs);
    relay.kill(signal);
    await exited;
    clearTimeout(patience);
  }

  const keeping = keep();
  return {
    url: () => url,
    waitUntilReady: () => ready.promise,
    async kill() {
      if (child !== null) counts.kills += 1;
      await end('SIGKILL');
    },
    async restart() {
      await end('SIGTERM');
      await ready.promise;
    },
    async reconcile() {
      // The channel of a killed process closes before its exit is seen.
      const relay = child;
      if (relay === null || !relay.connected) return;
      const over = new AbortController();
      const finished = Promise.race(['message', 'exit'].map((event) => once(relay, event, over)));
      // It may be killed at this moment: then its exit ends the wait.
      relay.send('reconcile', () => undefined);
      await finished;
      over.abort();
    },
    waitUntilEnded: () => ended.promise,
    async stop() {
      isOver = true;
      await end('SIGTERM');
      await keeping;
    },
    abandon() {
      isOver = true;
      endedWith = 'SIGKILL';
      child?.kill('SIGKILL');
    },
    counts,
    ownEnds,
    endedAtMs,
  };
}

/** Creates a promise that may be rejected while no code waits for it. */
function createMoment(): PromiseWithResolvers<void> {
  const moment = Promise.withResolvers<void>();
  moment.promise.catch(() => undefined);
  return moment;
}
