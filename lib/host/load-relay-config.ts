import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { describeError } from '../base/describe-error.ts';
import { type HostConfig, parseConfig } from './config.ts';
import { provideConfig } from './project-config.ts';

interface Loading {
  /** Imports relay.config.ts of the project, once that is there. */
  readonly importOwn: () => Promise<{ readonly default: unknown }>;
  /** Takes a sentence when the file was made. */
  readonly tell: (notice: string) => void;
  /** The error for a file that cannot be loaded. */
  readonly createUnreadable: (file: string, reason: string) => Error;
}

/**
 * Reads and checks the configuration.
 *
 * @param path undefined: relay.config.ts of the project, which is made when a new relay has none
 * @throws RelayError `config_missing`, `config_invalid`; the error for a file that cannot be loaded
 */
export async function loadRelayConfig(
  path: string | undefined,
  { importOwn, tell, createUnreadable }: Loading,
): Promise<HostConfig> {
  const notice = path === undefined ? provideConfig() : null;
  if (notice !== null) tell(notice);
  if (path !== undefined && !existsSync(resolve(path))) throw createUnreadable(path, 'there is no such file');
  let config: unknown;
  try {
    config = path === undefined ? (await importOwn()).default : requireDefault(path);
  } catch (error) {
    throw createUnreadable(path ?? 'relay.config.ts', describeUnreadable(error));
  }
  return parseConfig(config, path);
}

/** What the file at a path exports as its default. The path is only known at run time. */
function requireDefault(path: string): unknown {
  const loaded: { readonly default?: unknown } = createRequire(import.meta.url)(resolve(path));
  return loaded.default;
}

/** Why a configuration could not be loaded; of a syntax error with the file and the line, which its stack begins with. */
function describeUnreadable(error: unknown): string {
  const reason = describeError(error);
  if (!Error.isError(error) || error.name !== 'SyntaxError') return reason;
  const [place] = /[^/\\\n]+:\d+(?=\n)/.exec(error.stack ?? '') ?? [];
  return place === undefined ? reason : `${reason}, at ${place}`;
}
