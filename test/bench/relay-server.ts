import { startLocalRelay } from '../../infra/local/local-relay.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { createDataFolder } from '../../lib/host/data-folder.ts';
import { completeFileSecrets } from '../../lib/host/file-secrets.ts';
import { createLineLog } from '../../lib/host/line-log.ts';
import { paperKeysOf } from '../../lib/paper/engine/accounts.ts';
import { readMonotonicMs, serveParent } from './bench-process.ts';
import { benchConfig, type Size } from './workload.ts';

/** The whole local relay on a folder of its own; its log goes to the standard output, as under a service manager. */
const [exchangeUrl = '', dataPath = '', size] = process.argv.slice(2);
const config = benchConfig(exchangeUrl, size === undefined ? undefined : (JSON.parse(size) as Size));
const { exchange, settings } = parseConfig(config);
const folder = createDataFolder(dataPath);
completeFileSecrets(folder.secretsPath, Object.keys(settings.accounts), paperKeysOf);

const relay = await startLocalRelay({
  port: 0,
  folder,
  settings,
  exchange: { ...exchange, isPaper: true },
  // Longer than in `npm start`: the exchange stub may hold orders while thousands of alerts are posted.
  exchangeTimeoutMs: 60_000,
  // Orders are not followed meanwhile: the exchange stub keeps none, and following costs by open order and time.
  followEveryMs: 3_600_000,
  clock: systemClock,
  log: createLineLog('relay', process.stdout),
});
serveParent(relay, {
  async reconcile() {
    const startedAtMs = readMonotonicMs();
    await relay.reconcile();
    return readMonotonicMs() - startedAtMs;
  },
});
