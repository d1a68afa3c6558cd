import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { systemClock } from '../../lib/base/clock.ts';
import { describeError } from '../../lib/base/describe-error.ts';
import { readJson } from '../../lib/base/json.ts';
import type { Credentials } from '../../lib/exchange/client.ts';
import { parseConfig } from '../../lib/host/config.ts';
import type { Check } from '../checks/check.ts';
import { checkFirst } from '../checks/first-checks.ts';
import type { GlobalOptions } from '../command.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import {
  createFirstConfig,
  type FirstWishes,
  readChannels,
  readMarket,
  readMode,
} from '../read/first-config.ts';
import { askForKeys, askForWishes } from '../session/ask-wishes.ts';
import { quote } from '../session/installed-parts.ts';
import { renderChecks } from '../show/render-checks.ts';
import { type Terminal, terminalOf } from '../show/terminal.ts';
import { fitLines } from '../show/wrap-text.ts';
import { writeConfig } from '../show/write-config.ts';

interface InitOptions extends GlobalOptions {
  readonly account: string;
  readonly mode: string;
  readonly exchange: string;
  readonly market: readonly string[];
  readonly notices: string;
  readonly checkKey?: boolean;
  readonly out: string;
  readonly overwrite?: boolean;
  readonly unchecked?: boolean;
}

const projectRoot = join(import.meta.dirname, '..', '..');
const projectConfig = join(projectRoot, 'relay.config.ts');

export function addInitCommand(program: Command): void {
  program
    .command('init')
    .description(
      'write a first relay.config.ts: asks for markets, limits, mode and notices, and checks them against the exchange; with --market it asks nothing',
    )
    .option('--account <name>', 'name of the account, part of its webhook URL', 'main')
    .option('--mode <mode>', 'paper, dry-run or live', 'paper')
    .option('--exchange <address>', 'global, eu or a URL', 'global')
    .option(
      '--market <market>',
      'MARKET:TRADES_ON[:LARGEST_AMOUNT[:LARGEST_NOTIONAL]], for example BTC_USDT:margin:0.01:1000; TRADES_ON is spot, margin or futures; without the two sizes, an order may be of any size; several times for several markets',
      (one: string, others: readonly string[]) => [...others, one],
      [] as readonly string[],
    )
    .option('--notices <channels>', 'who is told: telegram, slack, discord, ntfy, email, webhook', '')
    .option('--check-key', 'check what a key may read; it comes from standard input, and is not stored')
    .addOption(
      new Option('--out <file>', 'the file to write').default(
        projectConfig,
        'relay.config.ts of the project',
      ),
    )
    .option('--overwrite', 'replace the file if it is there')
    .option('--unchecked', 'ask the exchange nothing')
    .action((_options: object, command: Command) =>
      init(command.optsWithGlobals<InitOptions>(), terminalOf(command)),
    );
}

async function init(options: InitOptions, terminal: Terminal): Promise<void> {
  const path = resolve(options.out);
  // Before any question: nobody answers them in vain.
  if (existsSync(path) && options.overwrite !== true)
    throw new CommandFailure(
      'config_exists',
      `${path} is there, and nothing was changed`,
      'Edit it, or add --overwrite to replace it.',
    );
  const isAsking = options.market.length === 0 && terminal.stdin.isTTY === true;
  const wishes = isAsking ? await askForWishes(terminal) : readWishes(options);
  const config = createFirstConfig(wishes);
  const host = parseConfig(config);
  const keys = isAsking ? await askForKeys(terminal) : await readKeysToCheck(options, terminal);
  const checks = options.unchecked === true ? [] : await checkFirst(host, wishes, keys, systemClock);
  const failed = checks.filter(({ verdict }) => verdict === 'fail');
  if (failed.length > 0) {
    if (options.json !== true) terminal.stdout.write(`${renderChecks(checks, terminal)}\n`);
    throw createRefusal(failed);
  }
  write(path, writeConfig(config, typePathFrom(path)), options.overwrite === true);
  const next = listNext(wishes, path === projectConfig ? null : path);
  const document = { written: path, checks, next };
  const lines = [
    ...(checks.length === 0 ? [] : [renderChecks(checks, terminal), '']),
    `Wrote ${path}.`,
    ...describeUnlimited(wishes),
    'Next:',
  ];
  const result = [...lines, ...next.map((command) => `  ${command}`)].join('\n');
  terminal.stdout.write(
    `${options.json === true ? JSON.stringify(document) : fitLines(result, terminal.width)}\n`,
  );
}

/** @throws CommandFailure (usage) */
function readWishes({ account, mode, exchange, market, notices }: InitOptions): FirstWishes {
  if (market.length === 0)
    throw createUsageFailure(
      'no market is named, and there is no terminal to ask in',
      'Name each with --market, for example --market BTC_USDT:margin:0.01:1000.',
    );
  return {
    account,
    mode: readMode(mode),
    exchange,
    markets: market.map(readMarket),
    channels: readChannels(notices),
  };
}

async function readKeysToCheck({ checkKey }: InitOptions, { stdin }: Terminal): Promise<Credentials | null> {
  if (checkKey !== true) return null;
  const given = (await text(stdin)).trim();
  const [apiKey, apiSecret] = given.split(/\r?\n/).map((line) => line.trim());
  const keys = given.startsWith('{') ? readJson(given) : { apiKey, apiSecret };
  if (isKeys(keys)) return keys;
  throw createUsageFailure('the input is not an exchange key', 'Give the key and the secret as two lines.');
}

function isKeys(value: unknown): value is Credentials {
  if (typeof value !== 'object' || value === null) return false;
  const { apiKey, apiSecret } = value as Partial<Record<string, unknown>>;
  return [apiKey, apiSecret].every((part) => typeof part === 'string' && /^[!-~]{1,512}$/.test(part));
}

function createRefusal(failed: readonly Check[]): CommandFailure {
  return new CommandFailure(
    'not_as_the_exchange',
    `nothing was written: ${failed.map(({ name, found }) => `${name}: ${found}`).join('; ')}`,
    failed.map(({ advice }) => advice ?? '').join(' '),
  );
}

/** From the folder of the file to the type of its value. */
function typePathFrom(path: string): string {
  const found = relative(dirname(path), join(projectRoot, 'lib', 'host', 'config.ts'))
    .split(sep)
    .join('/');
  return found.startsWith('.') ? found : `./${found}`;
}

function write(path: string, content: string, isOverwriting: boolean): void {
  try {
    // Whoever made the file meanwhile keeps it.
    writeFileSync(path, content, { flag: isOverwriting ? 'w' : 'wx' });
  } catch (error) {
    throw new CommandFailure(
      'not_written',
      `${path} cannot be written: ${describeError(error)}`,
      'Name another file with --out.',
    );
  }
}

/** Names the markets in which an order may be of any size. */
function describeUnlimited({ markets }: FirstWishes): readonly string[] {
  const names = markets.flatMap(({ name, maxAmount, maxNotional }) =>
    maxAmount === null && maxNotional === null ? [name] : [],
  );
  if (names.length === 0) return [];
  return [
    `No limit of size: an order in ${names.join(', ')} may be as large as the balance allows. Set maxAmount and maxNotional there.`,
  ];
}

/**
 * The commands that come next.
 *
 * @param path of the configuration; null: where each command looks for it
 */
function listNext({ account, mode, channels }: FirstWishes, path: string | null): readonly string[] {
  const reached = channels.filter((name) => name !== 'email');
  const config = path === null ? '' : ` --config ${quote(path)}`;
  if (mode === 'paper')
    return [
      path === null ? 'npm start' : `npm start --${config}`,
      ...reached.map((name) => `npx relay notify set ${name}${config}`),
    ];
  const relay = ` --stack trading-relay-prod${config}`;
  return [
    'npx cdk bootstrap',
    path === null ? 'npx cdk deploy' : `npx cdk deploy -c config=${quote(path)}`,
    `npx relay keys set ${account}${relay}`,
    ...reached.map((name) => `npx relay notify set ${name}${relay}`),
    `npx relay doctor${relay}`,
  ];
}
