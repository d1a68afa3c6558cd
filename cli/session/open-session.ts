import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { parseConfig } from '../../lib/host/config.ts';
import { describeUnreadable, provideConfig } from '../../lib/host/project-config.ts';
import { CommandFailure } from '../failure.ts';
import type { Terminal } from '../show/terminal.ts';
import type { Session } from './session.ts';

/** The options of the command line that select a relay. */
export interface SessionOptions {
  readonly data: string;
  /** Name of a CloudFormation stack; absent: a local run. */
  readonly stack?: string;
  readonly region?: string;
  readonly config?: string;
}

/**
 * @throws RelayError `config_missing` or `config_invalid`; CommandFailure when there is no such stack or
 * configuration
 */
export async function openSession(options: SessionOptions, terminal: Terminal): Promise<Session> {
  const { config } = options;
  const host =
    config === undefined
      ? parseConfig(await loadOwnConfig(terminal))
      : parseConfig(loadConfig(config), config);
  if (options.stack === undefined) {
    const { openLocalSession } = await import('./local-session.ts');
    return openLocalSession(options.data, host);
  }
  // Loading the AWS clients takes longer than most local commands.
  const { openStackSession } = await import('./stack-session.ts');
  return await openStackSession(options.stack, options.region, host);
}

async function loadOwnConfig({ stderr }: Terminal): Promise<unknown> {
  const notice = provideConfig();
  if (notice !== null) stderr.write(`${notice}\n`);
  try {
    return (await import('../../relay.config.ts')).default;
  } catch (error) {
    throw createUnreadable('relay.config.ts', error);
  }
}

function loadConfig(path: string): unknown {
  try {
    // The path is only known at run time.
    const loaded: { readonly default?: unknown } = createRequire(import.meta.url)(resolve(path));
    return loaded.default;
  } catch (error) {
    throw createUnreadable(path, error);
  }
}

function createUnreadable(path: string, error: unknown): CommandFailure {
  return new CommandFailure(
    'config_unreadable',
    `the configuration "${path}" cannot be loaded: ${describeUnreadable(error)}`,
    'Check the path, and that the file exports the configuration as its default.',
  );
}
