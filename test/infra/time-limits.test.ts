import { expect, test } from '@jest/globals';
import { openExecuteServices, openReconcileServices } from '../../lib/host/aws-services.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { latestStartMs } from '../../lib/relay/execute/earlier-signals.ts';
import { signalTimeouts } from '../../lib/relay/execute/signal-time.ts';
import { lastRequestMs } from '../../lib/relay/settle/reconcile-signals.ts';
import { infraConfig, synthesize } from './synthesized.ts';

const environment = {
  AWS_REGION: 'eu-central-1',
  EXCHANGE_KEYS: '{}',
  LEDGER_TABLE: 'a',
  SIGNAL_QUEUE_URL: 'b',
  STACK_NAME: 'relay-test',
};
const { resources } = await synthesize();
const limitMsOf = (name: string) => Number(resources[name]?.Properties['Timeout']) * 1000;

test('the time limit of execute-signal covers the last signal of a delivery at the slowest exchange', () => {
  const { exchangeTimeoutMs } = openExecuteServices(parseConfig(infraConfig), environment);

  const longestMs = latestStartMs + signalTimeouts * exchangeTimeoutMs;

  expect(longestMs).toBe(29_000);
  expect(limitMsOf('RelayExecuteFunction')).toBe(30_000);
});

test('the time limit of reconcile-signals covers the last request of a run', () => {
  const { exchangeTimeoutMs } = openReconcileServices(parseConfig(infraConfig), environment);

  expect(lastRequestMs + exchangeTimeoutMs).toBe(45_000);
  expect(limitMsOf('RelayReconcileFunction')).toBe(50_000);
});
