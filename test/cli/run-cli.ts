import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** How one run of the tool ended, and what it said. */
export interface CliRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const mainPath = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));

/** What the owner of this folder wants is no matter of the tests. */
const shippedConfig = fileURLToPath(new URL('../../relay.config.example.ts', import.meta.url));

/** Runs the tool as its users do, in a process of its own. */
export async function runCli(args: readonly string[], input = ''): Promise<CliRun> {
  const { FORCE_COLOR: _, ...env } = process.env;
  const config = args.includes('--config') ? [] : ['--config', shippedConfig];
  const child = spawn(process.execPath, [mainPath, ...args, ...config], { env: { ...env, NO_COLOR: '1' } });
  child.stdin.end(input);
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { exitCode, stdout, stderr };
}

/** The document of a run that went well. */
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

/** The failure of a run that went wrong, as programs read it; standard output stays empty then. */
export async function runForFailure(args: readonly string[], input = ''): Promise<CliFailure> {
  const { exitCode, stdout, stderr } = await runCli([...args, '--json'], input);
  if (exitCode === 0 || stdout !== '') throw new Error(`relay ${args.join(' ')} did not fail: ${stdout}`);
  return { exitCode, ...JSON.parse(stderr).error };
}
