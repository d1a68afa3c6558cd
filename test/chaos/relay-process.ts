import { Writable } from 'node:stream';
import { checkDataFolder } from '../../infra/local/check-data-folder.ts';
import { lockFolder } from '../../infra/local/folder-lock.ts';
import { startLocalRelay } from '../../infra/local/local-relay.ts';
import { createLogOutput } from '../../infra/local/log-output.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { createDataFolder, writeRun } from '../../lib/host/data-folder.ts';
import { completeFileSecrets, createFileSecrets, storeFileWay } from '../../lib/host/file-secrets.ts';
import { restrictDataFolder } from '../../lib/host/folder-access.ts';
import { createLineLog } from '../../lib/host/line-log.ts';
import type { RequestChannelName, Ways } from '../../lib/notices/channels.ts';
import { paperKeysOf } from '../../lib/paper/engine/accounts.ts';
import { chaosConfig, exchangeTimeoutMs, maximumLogFileBytes, tellEveryMs } from './relay-config.ts';

/**
 * The relay as `npm start` composes it, with an exchange in another process.
 *
 * Its standard output serves as the terminal. Every log line is also written there as JSON, as to a service
 * manager's journal: synchronously, so that no line is lost with the disk or the process.
 */
const [exchangeUrl = '', dataPath = '', ways = '{}'] = process.argv.slice(2);
const { exchange, settings, notices } = parseConfig(chaosConfig(exchangeUrl));
const folder = createDataFolder(dataPath);
checkDataFolder(folder);
const lock = lockFolder(folder.lockPath);
restrictDataFolder(folder);
completeFileSecrets(folder.secretsPath, Object.keys(settings.accounts), paperKeysOf);
await storeWays(JSON.parse(ways) as Ways);

const logOutput = createLogOutput(folder.logPath, process.stdout, { maximumFileBytes: maximumLogFileBytes });
const output = new Writable({
  decodeStrings: false,
  write(chunk: string, _encoding, done) {
    try {
      // Before the journal, so that every line in the journal was also shown, whenever the process is killed.
      logOutput.write(chunk);
    } catch {
      // The local relay ignores this error, too; the journal has the line that the terminal then lacks.
    }
    process.stdout.write(chunk);
    done();
  },
});

const relay = await startLocalRelay({
  port: 0,
  folder,
  settings,
  exchange: { ...exchange, isPaper: true },
  exchangeTimeoutMs,
  notices,
  tellEveryMs,
  clock: systemClock,
  log: createLineLog('relay', output),
});
writeRun(folder, { relayUrl: relay.url, exchangeUrl, dialect: exchange.dialect });

process.on('message', (message) => {
  if (message === 'reconcile') void relay.reconcile().then(() => process.send?.('reconciled'));
});
// The parent process decides when this one ends, and this one does not outlive it.
process.on('SIGINT', () => undefined);
for (const end of ['SIGTERM', 'disconnect'] as const) process.once(end, () => void stop());
let stopping: Promise<void> | null = null;

function stop(): Promise<void> {
  stopping ??= relay.close().then(() => {
    // The log may hold lines back until the next tick; ending it writes them.
    output.end(() => logOutput.end());
    lock.release();
    if (process.connected) process.disconnect();
  });
  return stopping;
}

/** As `notify set` stores them, once. */
async function storeWays(wanted: Ways): Promise<void> {
  const stored = await createFileSecrets(folder.secretsPath).noticeWays();
  for (const [name, way] of Object.entries(wanted) as [RequestChannelName, Ways[RequestChannelName]][])
    if (stored[name] === undefined) storeFileWay(folder.secretsPath, name, way ?? null);
}

// Last, because who reads this may end the process at once.
process.stdout.write('ready\n');
