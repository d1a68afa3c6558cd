import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { type HostConfig, parseConfig } from '../../lib/host/config.ts';
import { provideConfig } from '../../lib/host/project-config.ts';

const projectConfigPath = resolve(import.meta.dirname, '..', '..', 'relay.config.ts');

/**
 * Reads the configuration to deploy.
 *
 * @param path relative to the current folder; undefined: relay.config.ts of the project
 * @throws RelayError `config_missing`, or `config_invalid` with all issues at once
 */
export function loadConfig(path: string | undefined): HostConfig {
  const notice = path === undefined ? provideConfig() : null;
  if (notice !== null) process.stderr.write(`${notice}\n`);
  const absolute = path === undefined ? projectConfigPath : resolve(path);
  // `require`, because the path is known only at run time.
  const loaded: unknown = createRequire(import.meta.url)(absolute);
  return parseConfig((loaded as { default?: unknown }).default);
}
