import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** How a program ended, and what it said. */
export interface Finished {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  /** The whole environment: nothing of this process's own leaks in. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What it reads from standard input. */
  readonly input?: string;
}

export async function runProcess(
  program: string,
  args: readonly string[],
  { env, cwd = process.cwd(), input = '' }: ProcessOptions,
): Promise<Finished> {
  const child = spawn(program, args, { env, cwd });
  // A program that ends without reading its input breaks the pipe, which is its own affair.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { exitCode, stdout, stderr };
}

/** @throws Error with the end of what it said, when it does not end well */
export async function runToSuccess(
  program: string,
  args: readonly string[],
  options: ProcessOptions,
): Promise<string> {
  const { exitCode, stdout, stderr } = await runProcess(program, args, options);
  if (exitCode === 0) return stdout;
  const said = `${stdout}\n${stderr}`.trim().split('\n').slice(-60).join('\n');
  throw new Error(`${program} ${args.join(' ')} ended with ${exitCode}:\n${said}`);
}

/** What every program needs of the environment it is started in; nothing of the user's AWS set-up is in it. */
export function plainEnvironment(): Record<string, string> {
  const names = ['HOME', 'LANG', 'SYSTEMROOT', 'HTTPS_PROXY', 'https_proxy', 'PIP_INDEX_URL', 'PIP_CERT'];
  const kept = names.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(kept);
}
