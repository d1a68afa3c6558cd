import { openReconcileServices } from '../lib/host/aws-services.ts';
import { settling } from '../lib/host/recorded-alarms.ts';
import { createSchedule } from '../lib/host/schedule.ts';
import { readShippedConfig } from '../lib/host/shipped-config.ts';
import { createFollower } from '../lib/relay/follow/follow-orders.ts';
import { runMinute } from '../lib/relay/settle/run-minute.ts';
import { createRemovedAccountsWatch } from '../lib/watch/removed-accounts.ts';
import { watchExchange } from '../lib/watch/watch-exchange.ts';
import { checkedConfig } from './checked-config.ts';

const services = openReconcileServices(readShippedConfig(checkedConfig), process.env);
const follower = createFollower(services);
const watchRemovedAccounts = createRemovedAccountsWatch(services);

/** Called by a schedule every minute. */
export const handler = createSchedule(
  'reconcile-signals',
  services.log,
  settling(services.alarms, async () => {
    const startedAtMs = services.clock.nowMs();
    await Promise.all([
      runMinute(services, follower),
      services.keepFingerprints(),
      watchExchange(services, startedAtMs),
    ]);
    await watchRemovedAccounts();
  }),
);
