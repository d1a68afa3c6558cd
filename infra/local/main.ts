import { Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../../lib/base/clock.ts';
import { describeError } from '../../lib/base/describe-error.ts';
import { RelayError } from '../../lib/base/errors.ts';
import type { Log } from '../../lib/base/log.ts';
import { type Dialect, dialects } from '../../lib/exchange/dialect.ts';
import { explainConfigError, type HostConfig, listRegionNotes, parseConfig } from '../../lib/host/config.ts';
import { createDataFolder, type DataFolder, type Run, writeRun } from '../../lib/host/data-folder.ts';
import { completeFileSecrets, createFileSecrets } from '../../lib/host/file-secrets.ts';
import { restrictDataFolder } from '../../lib/host/folder-access.ts';
import { createLineLog } from '../../lib/host/line-log.ts';
import { provideConfig } from '../../lib/host/project-config.ts';
import { findSwallowedOptions } from '../../lib/host/swallowed-options.ts';
import type { Account } from '../../lib/model/account.ts';
import { paperKeysOf } from '../../lib/paper/engine/accounts.ts';
import { startPaperExchange } from '../../lib/paper/server/server.ts';
import { checkDataFolder } from './check-data-folder.ts';
import { lockFolder } from './folder-lock.ts';
import { describeLiveOnPaper, writeFolder, writeGreeting } from './greeting.ts';
import { startLocalRelay } from './local-relay.ts';
import { createLogOutput } from './log-output.ts';
import { type RunningPage, startPage } from './page.ts';

interface StartOptions {
  readonly port: number;
  readonly paperPort: number;
  readonly pagePort?: number;
  readonly page: boolean;
  readonly data: string;
  readonly dialect?: Dialect;
  readonly frozen: boolean;
}

const usualPagePort = 8070;

const program = new Command('npm start --')
  .description(
    'Runs the relay and a paper exchange on this machine until Ctrl-C. Prints `ready` when both are running, and `stopped` when both have stopped. No order leaves this machine.',
  )
  .addOption(
    portOption('--port <number>', 'port of the relay, for the webhook; 0 takes any free one').default(8080),
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
  .option(
    '--data <folder>',
    'folder of ledger, paper exchange, secrets and log; created if missing',
    '.relay',
  )
  .addOption(
    new Option('--dialect <name>', 'API dialect that the paper exchange speaks')
      .choices(dialects)
      .default(undefined, 'exchange.dialect of relay.config.ts'),
  )
  .option('--frozen', 'keep prices still: they change only with `npx relay paper price`', false)
  .addHelpText(
    'after',
    '\nExamples:\n  npm start -- --frozen\n  npm start -- --port 9080 --paper-port 9090 --data .relay-second',
  )
  .action(start);

await run().catch((error: unknown) => {
  process.stderr.write(`${explainError(error)}\n`);
  process.exitCode = 1;
});

/**
 * @throws Error for options that npm took: without them, the relay would start on other ports and another
 * folder
 */
async function run(): Promise<void> {
  const swallowed = findSwallowedOptions(process.env, 'start', program.options, []);
  if (swallowed !== null)
    throw new Error(
      `npm took ${swallowed.options} for itself, and nothing was started: write \`npm start -- ${swallowed.rightArguments}\``,
    );
  await program.parseAsync();
}

function portOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    const port = Number(text);
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw new InvalidArgumentError('A port is a whole number from 0 (any free one) to 65535.');
    return port;
  });
}

async function start({ port, paperPort, data, frozen, ...options }: StartOptions): Promise<void> {
  const { settings, snapshots, exchange } = await loadConfig();
  const dialect = options.dialect ?? exchange.dialect;
  const folder = createDataFolder(data);
  checkDataFolder(folder);
  // If a later step fails, everything started before is stopped again.
  await using starting = new AsyncDisposableStack();
  const lock = lockFolder(folder.lockPath);
  starting.defer(() => lock.release());
  const output = createLogOutput(folder.logPath, process.stdout);
  starting.defer(() => void output.end());
  const log = createLineLog('relay', output);
  for (const sentence of restrictDataFolder(folder)) log.warn(sentence, {});
  const liveAccounts = Object.values(settings.accounts)
    .filter(({ mode }) => mode === 'live')
    .map(({ name }) => name);
  if (liveAccounts.length > 0) log.warn(describeLiveOnPaper(liveAccounts), {});
  completeFileSecrets(folder.secretsPath, Object.keys(settings.accounts), paperKeysOf);

  const paper = await startPaperExchange({
    port: paperPort,
    dialect,
    walk: !frozen,
    seed: 1,
    journalPath: folder.paperPath,
  });
  starting.defer(() => paper.close());
  const relay = await startLocalRelay({
    port,
    folder,
    settings,
    snapshots,
    exchange: { address: paper.url, dialect, isPaper: true },
    exchangeTimeoutMs: 10_000,
    commandOptions: writeFolder({ data }),
    clock: systemClock,
    log,
  });
  starting.defer(() => relay.close());
  recordRun(folder, { relayUrl: relay.url, exchangeUrl: paper.url, dialect }, log);

  const page = options.page ? await startPage({ ...pagePortOf(options), data, log }) : null;
  starting.defer(() => page?.close());
  const [account] = Object.values(settings.accounts) as [Account];
  const [token] = await createFileSecrets(folder.secretsPath).webhookTokens(account.name);
  const greeting = writeGreeting({
    relayUrl: relay.url,
    paperUrl: paper.url,
    pageUrl: page === null ? null : addressOf(page),
    dialect,
    isFrozen: frozen,
    data,
    webhookUrl: `${relay.url}/signals/${account.name}/${token}`,
    account,
    tickers: settings.tickers,
    liveAccounts,
    regionNotes: listRegionNotes(settings),
    paused: await relay.listPaused(),
    wasPaperEmptied: paper.wasEmptied,
  });
  const running = starting.move();
  stopBySignal(async () => {
    await running.disposeAsync();
    process.stdout.write('stopped\n');
  });
  // Printed last, because a reader of `ready` may stop the relay at once.
  process.stdout.write(greeting);
}

/** The token belongs to the person at the terminal, and into no file. */
function addressOf({ url, entryUrl }: RunningPage): string {
  return process.stdout.isTTY ? entryUrl : `${url}  (only a terminal gets its token)`;
}

/** Without a wish for one, the page gives way to whatever has its port. */
function pagePortOf({ pagePort }: Pick<StartOptions, 'pagePort'>) {
  return { port: pagePort ?? usualPagePort, isAnyPortFine: pagePort === undefined };
}

/** The terminal and npm both send Ctrl-C. Signals within this time count as one. */
const sameSignalMs = 1_000;

/** The first signal stops the relay gracefully. A later one ends the process at once. */
function stopBySignal(stop: () => Promise<void>): void {
  let firstAtMs: number | null = null;
  function handleSignal(): void {
    if (firstAtMs === null) void stop();
    firstAtMs ??= performance.now();
    if (performance.now() - firstAtMs > sameSignalMs) process.exit(1);
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, handleSignal);
}

/** Records the addresses of this run for the command `relay`. The relay itself does not need them. */
function recordRun(folder: DataFolder, run: Run, log: Log): void {
  try {
    writeRun(folder, run);
  } catch (error) {
    log.error(
      `${folder.runPath} could not be written: \`npx relay\` cannot find this relay until it is restarted and the file can be written`,
      { reason: describeError(error) },
    );
  }
}

/** Imported here and not at the top, so that an unreadable file is reported like any other mistake. */
async function loadConfig(): Promise<HostConfig> {
  const notice = provideConfig();
  if (notice !== null) process.stderr.write(`${notice}\n`);
  const { default: config } = await import('../../relay.config.ts').catch((error: unknown) => {
    throw new RelayError('config_invalid', `relay.config.ts cannot be read: ${describeError(error)}`);
  });
  return parseConfig(config);
}

function explainError(error: unknown): string {
  const { code, port } = (error ?? {}) as { readonly code?: unknown; readonly port?: number };
  if (code === 'EADDRINUSE')
    return `port ${port} is already in use: stop the program that uses it, or choose other ports with --port, --paper-port and --page-port`;
  return explainConfigError(error) ?? describeError(error);
}
