import { openReconcileServices } from '../lib/host/aws-services.ts';
import { createReconcileSignals } from '../lib/host/reconcile-signals.ts';
import config from '../relay.config.ts';

/** Called by a schedule every minute. */
export const handler = createReconcileSignals(openReconcileServices(config, process.env));
