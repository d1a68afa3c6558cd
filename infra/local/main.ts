import { Command } from 'commander';
import { systemClock } from '../../lib/base/clock.ts';
import { describeError } from '../../lib/base/describe-error.ts';
import { RelayError } from '../../lib/base/errors.ts';
import type { Log } from '../../lib/base/log.ts';
import {
  digestConfig,
  explainConfigError,
  type HostConfig,
  listLimitNotes,
  listRegionNotes,
} from '../../lib/host/config.ts';
import { createDataFolder, type DataFolder, type Run } from '../../lib/host/data-folder.ts';
import { completeFileSecrets, createFileSecrets } from '../../lib/host/file-secrets.ts';
import { restrictDataFolder } from '../../lib/host/folder-access.ts';
import { checkFolderKind, claimLiveFolder } from '../../lib/host/folder-kind.ts';
import { createLineLog } from '../../lib/host/line-log.ts';
import { loadRelayConfig } from '../../lib/host/load-relay-config.ts';
import { findSwallowedOptions } from '../../lib/host/swallowed-options.ts';
import type { Account } from '../../lib/model/account.ts';
import { paperKeysOf } from '../../lib/paper/engine/accounts.ts';
import { checkDataFolder, checkWritable } from './check-data-folder.ts';
import { lockFolder } from './folder-lock.ts';
import { describeLiveOnPaper, type GreetingFacts, writeFolder, writeGreeting } from './greeting.ts';
import { checkLiveConfig, checkLiveKeys } from './live-start.ts';
import { startLocalRelay } from './local-relay.ts';
import { createLogOutput, liveService } from './log-output.ts';
import { openExchange, type RunExchange } from './open-exchange.ts';
import { type RunningPage, startPage } from './page.ts';
import { keepRunRecorded, recordRun } from './run-record.ts';
import { createSenderCheck } from './senders.ts';
import { addStartOptions, refusePaperOptions, type StartOptions, usualPagePort } from './start-options.ts';
import { stopBySignal } from './stop-by-signal.ts';
import { startWatchdog } from './watchdog.ts';

const program = addStartOptions(
  new Command('npm start --').description(
    'Runs the relay and a paper exchange on this machine until Ctrl-C. Prints `ready` when both are running, and `stopped` when both have stopped. No order leaves this machine, unless you add `--live`.',
  ),
)
  .addHelpText(
    'after',
    '\nExamples:\n  npm start -- --frozen\n  npm start -- --port 9080 --paper-port 9090 --data .relay-second\n  npm start -- --live --reverse-proxy 127.0.0.1',
  )
  .action((options: StartOptions) => start(options));

/**
 * The exit status of a start that the owner must make possible first: the unit of systemd does not try it again. Every other
 * failure may pass by itself.
 */
const refusedStatus = 78;

/** How long the last lines may take to reach whoever reads them. */
const longestFarewellMs = 2_000;

// No console that is full or gone ends a relay that runs: the log of the data folder says so, and goes on.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

await run().catch((error: unknown) => {
  process.stderr.write(`${explainError(error)}\n`);
  process.exitCode = isForOwner(error) ? refusedStatus : 1;
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

async function start(options: StartOptions): Promise<void> {
  if (options.live) refusePaperOptions(program);
  const host = await loadRelayConfig(options.config, {
    importOwn: () => import('../../relay.config.ts'),
    tell: (notice) => process.stderr.write(`${notice}\n`),
    createUnreadable: (file, reason) => new RelayError('config_invalid', `${file} cannot be read: ${reason}`),
  });
  const liveAddress = options.live ? checkLiveConfig(host, process.env) : null;
  const data = options.data ?? (options.live ? '.relay-live' : '.relay');
  const folder = createDataFolder(data);
  checkDataFolder(folder);
  checkWritable(folder);
  checkFolderKind(folder, options.live ? 'live' : 'paper', liveAddress ?? '');
  // If a later step fails, everything started before is stopped again.
  await using starting = new AsyncDisposableStack();
  const lock = lockFolder(folder.lockPath);
  starting.defer(() => lock.release());
  const output = createLogOutput(folder.logPath, process.stdout);
  starting.defer(() => void output.end());
  const log = createLineLog(options.live ? liveService : 'relay', output);
  for (const sentence of restrictDataFolder(folder)) log.warn(sentence, {});

  const dialect = options.dialect ?? host.exchange.dialect;
  await prepareFolder(folder, host, options, liveAddress, log);
  const exchange = await openExchange(options, folder, dialect, liveAddress);
  starting.defer(() => exchange.close());
  const relay = await startLocalRelay({
    port: options.port,
    host: options.host,
    folder,
    settings: host.settings,
    snapshots: host.snapshots,
    notices: host.notices,
    exchange,
    exchangeTimeoutMs: 10_000,
    commandOptions: writeFolder({ data }),
    clock: systemClock,
    log,
    ...(needsSenderCheck(options)
      ? { senders: createSenderCheck({ reverseProxies: options.reverseProxy, allowed: options.allowFrom }) }
      : {}),
  });
  starting.defer(() => relay.close());
  const recording = keepRunRecorded(folder, runOf(options, exchange, relay.url, host), log);
  starting.defer(() => recording.stop());

  const page = options.page ? await startPage({ ...pagePortOf(options), data, log }) : null;
  starting.defer(() => page?.close());
  const greeting = await greet(options, host, folder, exchange, {
    pageUrl: page === null ? null : addressOf(page),
    data,
    relayUrl: relay.url,
    paused: await relay.listPaused(),
  });
  const watchdog = startWatchdog({
    environment: process.env,
    pingUrl: options.pingUrl,
    isReady: relay.isReady,
    findObstacle: relay.findObstacle,
    log,
  });
  starting.defer(() => watchdog.stop());
  const running = starting.move();
  stopBySignal(async () => {
    await running.disposeAsync();
    process.stdout.write('stopped\n');
    // Everything is stored by now. What waits in a pipe that nobody reads must not hold the process.
    setTimeout(() => process.exit(), longestFarewellMs).unref();
  });
  // Printed last, because a reader of `ready` may stop the relay at once.
  process.stdout.write(greeting);
}

/** On paper and on this machine alone, a tunnel may bring alerts from any address, as it always did. */
function needsSenderCheck({ live, host, reverseProxy, allowFrom }: StartOptions): boolean {
  const isOwnMachineAlone = ['127.0.0.1', '::1', 'localhost'].includes(host);
  return live || !isOwnMachineAlone || reverseProxy.length > 0 || allowFrom.length > 0;
}

/** The token belongs to the person at the terminal, and into no file. */
function addressOf({ url, entryUrl }: RunningPage): string {
  return process.stdout.isTTY ? entryUrl : `${url}  (only a terminal gets its token)`;
}

/** Without a wish for one, the page gives way to whatever has its port. */
function pagePortOf({ pagePort }: Pick<StartOptions, 'pagePort'>) {
  return { port: pagePort ?? usualPagePort, isAnyPortFine: pagePort === undefined };
}

/** Makes tokens, and keys where they are known. A live folder is marked as such before anything else is stored in it. */
async function prepareFolder(
  folder: DataFolder,
  host: HostConfig,
  options: StartOptions,
  liveAddress: string | null,
  log: Log,
): Promise<void> {
  const accounts = Object.values(host.settings.accounts);
  const names = accounts.map(({ name }) => name);
  if (liveAddress === null) {
    const liveAccounts = listLive(accounts);
    if (liveAccounts.length > 0) log.warn(describeLiveOnPaper(liveAccounts), {});
    completeFileSecrets(folder.secretsPath, names, paperKeysOf);
    return;
  }
  claimLiveFolder(folder, liveAddress);
  completeFileSecrets(folder.secretsPath, names, () => null);
  // A start that is refused leaves it, too: `keys set` must find the exchange.
  const relayUrl = `http://127.0.0.1:${options.port}`;
  const exchange = { address: liveAddress, dialect: host.exchange.dialect, isPaper: false };
  recordRun(folder, runOf(options, exchange, relayUrl, host), log);
  await checkLiveKeys(
    accounts,
    createFileSecrets(folder.secretsPath),
    (name) => `npx relay keys set ${name}${writeFolder({ data: folder.path })}`,
  );
}

function listLive(accounts: readonly Account[]): readonly string[] {
  return accounts.filter(({ mode }) => mode === 'live').map(({ name }) => name);
}

function runOf(
  { publicUrl }: StartOptions,
  { address, dialect, isPaper }: Pick<RunExchange, 'address' | 'dialect' | 'isPaper'>,
  relayUrl: string,
  host: HostConfig,
): Run {
  return {
    relayUrl,
    exchangeUrl: address,
    dialect,
    ...(isPaper ? {} : { trades: 'live' }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    configDigest: digestConfig(host),
  };
}

async function greet(
  options: StartOptions,
  { settings }: HostConfig,
  folder: DataFolder,
  exchange: RunExchange,
  facts: Pick<GreetingFacts, 'data' | 'relayUrl' | 'pageUrl' | 'paused'>,
): Promise<string> {
  const accounts = Object.values(settings.accounts);
  const [account] = accounts as [Account];
  const [token] = await createFileSecrets(folder.secretsPath).webhookTokens(account.name);
  // Whatever is not a terminal may be kept for long, and read by many.
  const webhookAt = (url: string) =>
    process.stdout.isTTY ? `${url}/signals/${account.name}/${token}` : null;
  return writeGreeting({
    ...facts,
    exchangeUrl: exchange.address,
    isLive: !exchange.isPaper,
    dialect: exchange.dialect,
    isFrozen: options.frozen,
    webhookUrl: webhookAt(options.publicUrl ?? facts.relayUrl),
    ownWebhookUrl: webhookAt(facts.relayUrl),
    account,
    accounts,
    tickers: settings.tickers,
    regionNotes: listRegionNotes(settings),
    limitNotes: listLimitNotes(settings),
    wasPaperEmptied: exchange.wasEmptied,
  });
}

function isForOwner(error: unknown): boolean {
  return error instanceof RelayError && (error.code === 'live_refused' || error.code === 'config_invalid');
}

function explainError(error: unknown): string {
  const { code, port } = (error ?? {}) as { readonly code?: unknown; readonly port?: number };
  if (code === 'EADDRINUSE')
    return `port ${port} is already in use: stop the program that uses it, or choose other ports with --port, --paper-port and --page-port`;
  return explainConfigError(error) ?? describeError(error);
}
