import { startLocalRelay } from '../../infra/local/local-relay.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { createDataFolder } from '../../lib/host/data-folder.ts';
import { completeFileSecrets } from '../../lib/host/file-secrets.ts';
import { createLineLog } from '../../lib/host/line-log.ts';
import { paperKeysOf } from '../../lib/paper/accounts.ts';
import { readMonotonicMs, serveParent } from './bench-process.ts';
import { benchConfig } from './workload.ts';

/** The whole local relay on a folder of its own; its log goes to the standard output, as under a service manager. */
const [exchangeUrl = '', dataPath = ''] = process.argv.slice(2);
const { exchange, settings } = parseConfig(benchConfig(exchangeUrl));
const folder = createDataFolder(dataPath);
completeFileSecrets(folder.secretsPath, Object.keys(settings.accounts), paperKeysOf);

const relay = await startLocalRelay({
  port: 0,
  folder,
  settings,
  exchange: { ...exchange, isPaper: true },
  exchangeTimeoutMs: 10_000,
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
