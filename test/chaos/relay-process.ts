import { Writable } from 'node:stream';
import { lockFolder } from '../../infra/local/folder-lock.ts';
import { startLocalRelay } from '../../infra/local/local-relay.ts';
import { createLogOutput } from '../../infra/local/log-output.ts';
import { paperKeysOf } from '../../infra/local/paper-keys.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { createDataFolder, writeRun } from '../../lib/host/data-folder.ts';
import { completeFileSecrets } from '../../lib/host/file-secrets.ts';
import { createLog } from '../../lib/host/log.ts';
import { chaosConfig, exchangeTimeoutMs } from './relay-config.ts';

/**
 * The relay as `npm start` composes it, against an exchange elsewhere.
 *
 * Every log line goes to the log file and, as it is, to the standard output: that is a service manager's journal,
 * written before the relay goes on, and none is lost with the disk or the process.
 */
const [exchangeUrl = '', dataPath = ''] = process.argv.slice(2);
const { exchange, settings } = parseConfig(chaosConfig(exchangeUrl));
const folder = createDataFolder(dataPath);
const lock = lockFolder(folder.lockPath);
completeFileSecrets(folder.secretsPath, Object.keys(settings.accounts), paperKeysOf);

const logFile = createLogOutput(folder.logPath, null);
const output = new Writable({
  decodeStrings: false,
  write(chunk: string, _encoding, done) {
    process.stdout.write(chunk);
    logFile.write(chunk);
    done();
  },
});

const relay = await startLocalRelay({
  port: 0,
  folder,
  settings,
  exchange,
  exchangeTimeoutMs,
  clock: systemClock,
  log: createLog('relay', output),
});
writeRun(folder, { relayUrl: relay.url, exchangeUrl, dialect: exchange.dialect });
process.stdout.write('ready\n');

process.on('message', (question) => {
  if (question === 'reconcile') void relay.reconcile().then(() => process.send?.('reconciled'));
});
// Whoever started this one decides when it ends, and it does not outlive them.
process.on('SIGINT', () => undefined);
for (const end of ['SIGTERM', 'disconnect'] as const) process.once(end, () => void stop());
let stopping: Promise<void> | null = null;

function stop(): Promise<void> {
  stopping ??= relay.close().then(() => {
    logFile.end();
    lock.release();
    if (process.connected) process.disconnect();
  });
  return stopping;
}
