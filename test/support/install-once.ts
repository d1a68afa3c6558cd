import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Installs tools of a test into the user's cache folder. Later runs need no network.
 *
 * Made aside and renamed when whole: an install that broke off leaves nothing behind, and two at once do no harm.
 *
 * @param name holds every version: a change of one makes another folder beside the old one
 * @param install fills the folder that it is given
 * @returns the folder
 */
export async function installOnce(name: string, install: (folder: string) => Promise<void>): Promise<string> {
  const home = join(cacheFolder(), name);
  if (existsSync(home)) return home;
  await mkdir(cacheFolder(), { recursive: true });
  const aside = await mkdtemp(`${home}.`);
  try {
    await install(aside);
    await rename(aside, home);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    if (!existsSync(home)) throw error;
  }
  return home;
}

function cacheFolder(): string {
  const { XDG_CACHE_HOME: cache } = process.env;
  return join(cache === undefined || cache === '' ? join(homedir(), '.cache') : cache, 'trading-relay');
}
