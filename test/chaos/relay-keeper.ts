import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type DataFolder, readRun } from '../../lib/host/data-folder.ts';

/** A relay that ended though nobody had ended it. */
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
  /** Resolves when a relay is up. */
  waitUntilReady(): Promise<void>;
  /** Ends it the hard way, at whatever it does; resolves when it is gone. */
  kill(): Promise<void>;
  /** Ends it the soft way; resolves when the next one is up. */
  restart(): Promise<void>;
  /** Lets it look after what was left behind; resolves when it has. */
  reconcile(): Promise<void>;
  /** Ends it the soft way, for good. */
  stop(): Promise<void>;
  /** Ends it at once, for good, when there is no time to wait. */
  abandon(): void;
  readonly counts: { readonly kills: number; readonly starts: number };
  readonly ownEnds: readonly OwnEnd[];
}

const pauseBeforeRestartMs = 100;
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
  let isEndedByUs = false;
  let url = '';
  let ready = Promise.withResolvers<void>();

  async function runOnce(): Promise<void> {
    const args = [script, exchangeUrl, folder.path];
    const relay = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    const exited = once(relay, 'exit') as Promise<[number | null]>;
    const wasFullAtStart = isDiskFull();
    let [wasReady, lastWords] = [false, ''];
    child = relay;
    isEndedByUs = false;
    relay.once('exit', () => {
      child = null;
      if (wasReady) ready = Promise.withResolvers<void>();
    });
    createInterface({ input: relay.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      if (line !== 'ready') return onLine(line);
      // It may have been killed before its last word was read.
      if (child !== relay) return;
      wasReady = true;
      counts.starts += 1;
      url = readRun(folder)?.relayUrl ?? '';
      ready.resolve();
    });
    createInterface({ input: relay.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      lastWords = `${lastWords}\n${line}`.slice(-lastWordsLength);
      onLine(line);
    });
    const [exitCode] = await exited;
    if (isEndedByUs) return;
    ownEnds.push({ wasReady, diskWasFull: wasFullAtStart || isDiskFull(), exitCode, lastWords });
  }

  async function keep(): Promise<void> {
    while (!isOver) {
      await runOnce();
      await sleep(pauseBeforeRestartMs);
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child;
    if (ending === null) return;
    isEndedByUs = true;
    const exited = once(ending, 'exit');
    ending.kill(signal);
    await exited;
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
      isEndedByUs = true;
      child?.kill('SIGKILL');
    },
    counts,
    ownEnds,
  };
}
