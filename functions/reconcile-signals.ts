import { createFollower } from '../lib/following/follow-orders.ts';
import { openReconcileServices } from '../lib/host/aws-services.ts';
import { createReconcileSignals } from '../lib/host/reconcile-signals.ts';
import { readShippedConfig } from '../lib/host/shipped-config.ts';
import { checkedConfig } from './checked-config.ts';

const services = openReconcileServices(readShippedConfig(checkedConfig), process.env);

/** Called by a schedule every minute. */
export const handler = createReconcileSignals(services, createFollower(services));
