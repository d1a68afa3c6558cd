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
import { chaosConfig, exchangeTimeoutMs, maximumLogFileBytes } from './relay-config.ts';

/**
 * The relay as `npm start` composes it, against an exchange elsewhere.
 *
 * The standard output is the terminal of whoever starts it. Every log line also goes there as it is: that is a service
 * manager's journal, written before the relay goes on, and none is lost with the disk or the process.
 */
const [exchangeUrl = '', dataPath = ''] = process.argv.slice(2);
const { exchange, settings } = parseConfig(chaosConfig(exchangeUrl));
const folder = createDataFolder(dataPath);
const lock = lockFolder(folder.lockPath);
completeFileSecrets(folder.secretsPath, Object.keys(settings.accounts), paperKeysOf);

const logOutput = createLogOutput(folder.logPath, process.stdout, { maximumFileBytes: maximumLogFileBytes });
const output = new Writable({
  decodeStrings: false,
  write(chunk: string, _encoding, done) {
    try {
      // First: what stands in the journal was shown, whenever the process is killed.
      logOutput.write(chunk);
    } catch {
      // Nobody hears of it in a relay either; the journal shows what the terminal then lacks.
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
    logOutput.end();
    lock.release();
    if (process.connected) process.disconnect();
  });
  return stopping;
}
