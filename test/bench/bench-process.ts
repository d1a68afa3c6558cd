import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A server under measurement, in a process of its own, so that its CPU time is its own too. */
export interface BenchProcess {
  readonly url: string;
  /** User and system time of the whole process so far, in microseconds. */
  cpuMicros(): Promise<number>;
  /** Hears every line the process writes to its standard output. */
  onLine(listener: (line: string) => void): void;
  /** Lets the process end by itself and waits for that. */
  stop(): Promise<void>;
}

type Question = 'cpu' | 'stop';
type Message = { readonly url: string } | { readonly cpuMicros: number };

/**
 * Starts a script of this folder.
 *
 * @throws Error when the script ends before it is ready
 */
export async function startProcess(
  script: string,
  options: { readonly args?: readonly string[]; readonly nodeArgs?: readonly string[] } = {},
): Promise<BenchProcess> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), path, ...(options.args ?? [])], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const message = await nextMessage(child);
  if (!('url' in message)) throw new Error(`${script} said something else before it was ready`);
  return {
    url: message.url,
    async cpuMicros() {
      child.send('cpu' satisfies Question);
      const answer = await nextMessage(child);
      return 'cpuMicros' in answer ? answer.cpuMicros : Number.NaN;
    },
    onLine: (listener) => lines.on('line', listener),
    async stop() {
      const exited = once(child, 'exit');
      child.send('stop' satisfies Question);
      await exited;
    },
  };
}

async function nextMessage(child: ChildProcess): Promise<Message> {
  const given = new AbortController();
  const ended = once(child, 'exit', { signal: given.signal }).then(([code]): never => {
    throw new Error(`a process of the benchmark ended with code ${code}; its own words stand above`);
  });
  ended.catch(() => undefined);
  const heard = once(child, 'message', { signal: given.signal }).then(([message]) => message as Message);
  heard.catch(() => undefined);
  try {
    return await Promise.race([heard, ended]);
  } finally {
    given.abort();
  }
}

/** The other end: says where the server listens, answers what the parent asks, and ends with the parent. */
export function serveParent(server: { readonly url: string; close(): Promise<void> }): void {
  const tell = (message: Message) => process.send?.(message);
  const end = () => void server.close().finally(() => process.disconnect?.());
  process.on('message', (question: Question) => {
    if (question === 'stop') end();
    else {
      const { user, system } = process.cpuUsage();
      tell({ cpuMicros: user + system });
    }
  });
  process.once('disconnect', () => void server.close());
  tell({ url: server.url });
}
