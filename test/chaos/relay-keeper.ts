import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type DataFolder, readRun } from '../../lib/host/data-folder.ts';

/** A relay that ended though nobody had ended it, or not as it was told to. */
export interface OwnEnd {
  /** Whether it had come up. */
  readonly wasReady: boolean;
  /** Whether the disk was full when it started, or when it ended. */
  readonly diskWasFull: boolean;
  readonly exitCode: number | null;
  /** The last of what it wrote to its standard error. */
  readonly lastWords: string;
}

/** A service manager for the one relay: whatever ends it, it is started again. */
export interface RelayKeeper {
  /** Where the last relay that came up listens; it may be gone. */
  url(): string;
  /**
   * Resolves when a relay is up.
   *
   * @throws Error when it ends again and again before it is, and not for want of room
   */
  waitUntilReady(): Promise<void>;
  /** Ends it the hard way, at whatever it does; resolves when it is gone. */
  kill(): Promise<void>;
  /** Ends it the soft way, or the hard way when it does not end; resolves when the next one is up. */
  restart(): Promise<void>;
  /** Lets it look after what was left behind; resolves when it has. */
  reconcile(): Promise<void>;
  /** Ends it as `restart` does, for good. */
  stop(): Promise<void>;
  /** Ends it at once, for good, when there is no time to wait. */
  abandon(): void;
  readonly counts: { readonly kills: number; readonly starts: number };
  readonly ownEnds: readonly OwnEnd[];
}

const pauseBeforeRestartMs = 100;
const mostFailedStarts = 5;
/** Far longer than a request to the exchange may take. */
const longestEndMs = 20_000;
const lastWordsLength = 2000;
const script = fileURLToPath(new URL('relay-process.ts', import.meta.url));

export function startKeeper(options: {
  readonly folder: DataFolder;
  readonly exchangeUrl: string;
  readonly isDiskFull: () => boolean;
  /** Hears every line of the relay's journal, and of its standard error. */
  readonly onLine: (line: string) => void;
}): RelayKeeper {
  const { folder, exchangeUrl, isDiskFull, onLine } = options;
  const counts = { kills: 0, starts: 0 };
  const ownEnds: OwnEnd[] = [];
  let isOver = false;
  let child: ChildProcess | null = null;
  let endedWith: NodeJS.Signals | null = null;
  let url = '';
  let failedStarts = 0;
  let ready = createMoment();

  async function runOnce(): Promise<void> {
    const args = [script, exchangeUrl, folder.path];
    const relay = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    const exited = once(relay, 'exit') as Promise<[number | null]>;
    const wasFullAtStart = isDiskFull();
    let [wasReady, lastWords] = [false, ''];
    child = relay;
    endedWith = null;
    relay.once('exit', () => {
      child = null;
      if (wasReady) ready = createMoment();
    });
    createInterface({ input: relay.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      if (line !== 'ready') return onLine(line);
      // It may have been killed before its last word was read.
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
    const [exitCode] = await exited;
    // What is told to end is to end well.
    if (endedWith === 'SIGKILL' || (endedWith === 'SIGTERM' && exitCode === 0)) return;
    const diskWasFull = wasFullAtStart || isDiskFull();
    ownEnds.push({ wasReady, diskWasFull, exitCode, lastWords });
    if (wasReady || diskWasFull) return;
    failedStarts += 1;
    if (failedStarts < mostFailedStarts) return;
    isOver = true;
    ready.reject(new Error(`the relay did not come up ${failedStarts} times in a row: ${lastWords}`));
  }

  async function keep(): Promise<void> {
    while (!isOver) {
      await runOnce();
      await sleep(pauseBeforeRestartMs);
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const outcome = child;
    if (outcome === null) return;
    endedWith = signal;
    const exited = once(outcome, 'exit');
    const patience = setTimeout(() => {
      const lastWords = `it did not end within ${longestEndMs} ms of ${signal}`;
      ownEnds.push({ wasReady: true, diskWasFull: isDiskFull(), exitCode: null, lastWords });
      endedWith = 'SIGKILL';
      outcome.kill('SIGKILL');
    }, longestEndMs);
    outcome.kill(signal);
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
      if (child === null) return;
      const answered = Promise.race([once(child, 'message'), once(child, 'exit')]);
      child.send('reconcile');
      await answered;
    },
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
  };
}

/** A promise that may be rejected with nobody waiting. */
function createMoment(): PromiseWithResolvers<void> {
  const moment = Promise.withResolvers<void>();
  moment.promise.catch(() => undefined);
  return moment;
}
