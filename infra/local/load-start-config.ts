import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { RelayError } from '../../lib/base/errors.ts';
import { type HostConfig, parseConfig } from '../../lib/host/config.ts';
import { describeUnreadable, provideConfig } from '../../lib/host/project-config.ts';

/**
 * Reads and checks the configuration. Without a path it is the relay.config.ts of the project, which the first start makes.
 *
 * @throws RelayError `config_missing`, `config_invalid`
 */
export async function loadStartConfig(path: string | undefined): Promise<HostConfig> {
  return path === undefined ? parseConfig(await loadOwn()) : parseConfig(loadFrom(path), path);
}

/** Imported here and not at the top, so that an unreadable file is reported like any other mistake. */
async function loadOwn(): Promise<unknown> {
  const notice = provideConfig();
  if (notice !== null) process.stderr.write(`${notice}\n`);
  try {
    return (await import('../../relay.config.ts')).default;
  } catch (error) {
    throw createUnreadable('relay.config.ts', error);
  }
}

function loadFrom(path: string): unknown {
  try {
    // The path is only known at run time.
    const loaded: { readonly default?: unknown } = createRequire(import.meta.url)(resolve(path));
    return loaded.default;
  } catch (error) {
    throw createUnreadable(path, error);
  }
}

function createUnreadable(path: string, error: unknown): RelayError {
  return new RelayError('config_invalid', `${path} cannot be read: ${describeUnreadable(error)}`);
}
