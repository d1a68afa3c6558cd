import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { plainEnvironment, runToSuccess } from './run-process.ts';

/** What is taken from PyPI. A change of a version makes another environment beside the old one. */
const packages = { ministack: '1.5.33', 'cfn-lint': '1.58.0' } as const;

/**
 * The Python of a virtual environment that has the AWS emulator and the template linter.
 *
 * Installed once into the user's cache folder, from PyPI; later runs need no network.
 */
export async function installPythonTools(): Promise<string> {
  const name = Object.entries(packages)
    .map(([tool, version]) => `${tool}-${version}`)
    .join('_');
  const home = join(cacheFolder(), name);
  if (!existsSync(home)) await install(home);
  return pythonOf(home);
}

function cacheFolder(): string {
  const { XDG_CACHE_HOME: cache } = process.env;
  return join(cache === undefined || cache === '' ? join(homedir(), '.cache') : cache, 'trading-relay');
}

function pythonOf(home: string): string {
  return join(home, 'bin', 'python');
}

/** Made aside and renamed when whole: an install that broke off leaves nothing behind, and two at once do no harm. */
async function install(home: string): Promise<void> {
  await mkdir(cacheFolder(), { recursive: true });
  const aside = await mkdtemp(`${home}.`);
  const env = { ...plainEnvironment(), PATH: process.env['PATH'] ?? '' };
  const wanted = Object.entries(packages).map(([tool, version]) => `${tool}==${version}`);
  try {
    await runToSuccess('python3', ['-m', 'venv', aside], { env });
    await runToSuccess(pythonOf(aside), ['-m', 'pip', 'install', '--quiet', ...wanted], { env });
    await rename(aside, home);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    if (!existsSync(home)) throw error;
  }
}
