import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../../cli/program.ts';
import type { Screen } from '../../cli/show/terminal.ts';

/** Exit code and output of one run of the command. */
export interface CliRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export const mainPath = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));

/** The tests do not use the relay.config.ts of this folder. */
export const shippedConfig = fileURLToPath(new URL('../../relay.config.example.ts', import.meta.url));

function withConfig(args: readonly string[]): readonly string[] {
  return args.includes('--config') ? args : [...args, '--config', shippedConfig];
}

/** No terminal, as in a pipe. */
const pipe: Screen = { width: null, timeZone: 'UTC' };

/** Runs the tool in this process, on streams of its own. */
export async function runCli(
  args: readonly string[],
  input = '',
  screen: Partial<Screen> = {},
): Promise<CliRun> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const told = Promise.all([text(stdout), text(stderr)]);
  const stdin = Readable.from([Buffer.from(input)]);
  const argv = [process.execPath, mainPath, ...withConfig(args)];
  const exitCode = await runProgram(argv, { ...pipe, ...screen, stdin, stdout, stderr });
  stdout.end();
  stderr.end();
  const [out, err] = await told;
  return { exitCode, stdout: withoutStyles(out), stderr: withoutStyles(err) };
}

/** Removes styles, which tests in a terminal have. Other control characters stay visible. */
function withoutStyles(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the styles of print.ts, begun and ended.
  return text.replace(/\u001b\[(0|1|2|22|31|32|36|39)m/g, '');
}

/** Runs the command in a process of its own, as users do. */
export async function spawnCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CliRun> {
  const { FORCE_COLOR: _, ...env } = process.env;
  const child = spawn(process.execPath, [mainPath, ...withConfig(args)], {
    env: { ...env, NO_COLOR: '1', ...environment },
  });
  child.stdin.end();
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { exitCode, stdout, stderr };
}

/** The document of a successful run. */
export async function runForJson(args: readonly string[], input = ''): Promise<unknown> {
  const { exitCode, stdout, stderr } = await runCli([...args, '--json'], input);
  if (exitCode !== 0) throw new Error(`relay ${args.join(' ')} ended with ${exitCode}: ${stderr}`);
  return JSON.parse(stdout);
}

export interface CliFailure {
  readonly exitCode: number;
  readonly code: string;
  readonly message: string;
  readonly action: string;
  readonly issues: readonly { readonly path: string; readonly message: string; readonly hint: string }[];
}

/** The JSON failure of a run that must fail; its standard output must be empty. */
export async function runForFailure(args: readonly string[], input = ''): Promise<CliFailure> {
  const { exitCode, stdout, stderr } = await runCli([...args, '--json'], input);
  if (exitCode === 0 || stdout !== '') throw new Error(`relay ${args.join(' ')} did not fail: ${stdout}`);
  return { exitCode, ...JSON.parse(stderr).error };
}
