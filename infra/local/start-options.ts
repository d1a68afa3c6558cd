import { type Command, InvalidArgumentError, Option } from 'commander';
import { RelayError } from '../../lib/base/errors.ts';
import { type Dialect, dialects } from '../../lib/exchange/dialect.ts';
import { parseRanges } from './senders.ts';

/** What the command line of `npm start` says; the environment says what it leaves open. */
export interface StartOptions {
  readonly live: boolean;
  readonly port: number;
  readonly host: string;
  readonly paperPort: number;
  /** Absent: the usual one, or any free one. */
  readonly pagePort?: number;
  readonly page: boolean;
  /** Absent: `.relay` on paper, `.relay-live` with `live`. */
  readonly data?: string;
  readonly config?: string;
  readonly dialect?: Dialect;
  readonly frozen: boolean;
  /** Addresses and ranges whose `X-Forwarded-For` is believed. */
  readonly reverseProxy: readonly string[];
  /** Who may post alerts besides TradingView. */
  readonly allowFrom: readonly string[];
  readonly publicUrl?: string;
  readonly pingUrl?: string;
}

export const usualPagePort = 8070;

/** Adds the options of `npm start`. */
export function addStartOptions(program: Command): Command {
  return program
    .option(
      '--live',
      'trade on the real exchange of relay.config.ts: REAL MONEY. Needs a data folder of its own',
      false,
    )
    .addOption(
      portOption('--port <number>', 'port of the relay, for the webhook; 0 takes any free one')
        .env('RELAY_PORT')
        .default(8080),
    )
    .addOption(
      new Option('--host <address>', 'address on which the relay listens')
        .env('RELAY_HOST')
        .argParser(readText)
        .default('127.0.0.1'),
    )
    .addOption(
      portOption('--paper-port <number>', 'port of the paper exchange; 0 takes any free one').default(8090),
    )
    .addOption(
      portOption('--page-port <number>', "port of the operator's page; 0 takes any free one").default(
        undefined,
        `${usualPagePort}, or any free one`,
      ),
    )
    .option('--no-page', "do not serve the operator's page; `npx relay dashboard` serves it, too")
    .addOption(
      new Option(
        '--data <folder>',
        'folder of ledger, paper exchange, secrets and log; created if missing (default: ".relay", with --live ".relay-live")',
      )
        .env('RELAY_DATA')
        .argParser(readText),
    )
    .addOption(
      new Option('--config <file>', 'configuration (default: relay.config.ts of this folder)')
        .env('RELAY_CONFIG')
        .argParser(readText),
    )
    .addOption(
      new Option('--dialect <name>', 'API dialect that the paper exchange speaks')
        .choices(dialects)
        .default(undefined, 'exchange.dialect of relay.config.ts'),
    )
    .option('--frozen', 'keep prices still: they change only with `npx relay paper price`', false)
    .addOption(
      rangesOption(
        '--reverse-proxy <addresses>',
        'addresses or ranges of the proxies in front of the relay, with commas: only their X-Forwarded-For is believed',
      ).env('RELAY_REVERSE_PROXY'),
    )
    .addOption(
      rangesOption(
        '--allow-from <addresses>',
        'addresses or ranges that may post alerts besides TradingView and this machine, with commas',
      ).env('RELAY_ALLOW_FROM'),
    )
    .addOption(
      urlOption('--public-url <url>', 'https address by which TradingView reaches the relay; only shown').env(
        'RELAY_PUBLIC_URL',
      ),
    )
    .addOption(
      urlOption('--ping-url <url>', 'https address that is asked once a minute while the relay is ready').env(
        'RELAY_PING_URL',
      ),
    );
}

/** Options that mean the paper exchange, which a live run does not have. */
const paperOptions = { paperPort: '--paper-port', dialect: '--dialect', frozen: '--frozen' } as const;

/**
 * @param program has parsed the command line
 * @throws RelayError `live_refused` for `--live` with an option of the paper exchange
 */
export function refusePaperOptions(program: Command): void {
  const given = Object.entries(paperOptions).flatMap(([name, flag]) =>
    program.getOptionValueSource(name) === 'cli' ? [flag] : [],
  );
  if (given.length > 0)
    throw new RelayError(
      'live_refused',
      `${given.join(', ')} set${given.length === 1 ? 's' : ''} the paper exchange, and \`--live\` has none; nothing was started`,
    );
}

function portOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    const port = Number(text);
    if (text === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
      throw new InvalidArgumentError('A port is a whole number from 0 (any free one) to 65535.');
    return port;
  });
}

function rangesOption(flags: string, description: string): Option {
  return new Option(flags, description).default([], 'none').argParser((text): readonly string[] => {
    const ranges = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
    try {
      parseRanges(ranges);
    } catch (error) {
      throw new InvalidArgumentError(error instanceof Error ? error.message : '');
    }
    return ranges;
  });
}

/** An empty variable of a settings file means that nothing is set. */
function urlOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    if (text === '') return undefined;
    const url = URL.parse(text);
    const isLoopback = url?.hostname === '127.0.0.1' || url?.hostname === 'localhost';
    if (url === null || (url.protocol !== 'https:' && !isLoopback))
      throw new InvalidArgumentError('It must be an https URL.');
    return text.replace(/\/+$/, '');
  });
}

function readText(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty.');
  return text;
}
