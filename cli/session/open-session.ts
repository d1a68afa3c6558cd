import { loadRelayConfig } from '../../lib/host/load-relay-config.ts';
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
  const { stderr } = terminal;
  const host = await loadRelayConfig(options.config, {
    importOwn: () => import('../../relay.config.ts'),
    tell: (notice) => stderr.write(`${notice}\n`),
    createUnreadable,
  });
  if (options.stack === undefined) {
    const { openLocalSession } = await import('./local-session.ts');
    return openLocalSession(options.data, host);
  }
  // Loading the AWS clients takes longer than most local commands.
  const { openStackSession } = await import('./stack-session.ts');
  return await openStackSession(options.stack, options.region, host);
}

function createUnreadable(file: string, reason: string): CommandFailure {
  return new CommandFailure(
    'config_unreadable',
    `the configuration "${file}" cannot be loaded: ${reason}`,
    'Check the path and the file: it must be there, be free of mistakes, and export the configuration as its default.',
  );
}
