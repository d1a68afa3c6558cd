import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startWorkerLoop } from '../../infra/local/worker-loop.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { reconcileSignals } from '../../lib/relay/settle/reconcile-signals.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';
import { createListeningLog } from '../support/listening-log.ts';

let relay: Aftermath;
beforeEach(async () => {
  relay = await openAftermath();
});
afterEach(() => relay.close());

test('an outcome that the store refuses for long is told at once, and settled before anything else of its market', async () => {
  const { services, file, line } = relay;
  file.database.exec(
    `CREATE TRIGGER full BEFORE UPDATE ON entries WHEN OLD.status = 'sending'
     BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`,
  );
  await relay.receive(buyAlert());
  await relay.receive(buyAlert({ id: 'buy-2' }));
  const { log, nextLine } = createListeningLog();
  const isReleased = nextLine();
  const executed: string[] = [];
  const isSettled = Promise.withResolvers<void>();
  const worker = startWorkerLoop(
    line,
    async (signal) => {
      executed.push(signal.signalId);
      await executeSignal(services, signal);
      if (signal.signalId === 'buy-2') isSettled.resolve();
    },
    log,
  );
  await isReleased;
  const told = [...relay.alarms];
  const stored = await relay.entry('buy-1');
  file.database.exec('DROP TRIGGER full');
  await isSettled.promise;
  await worker.stop();

  expect(stored.status).toBe('sending');
  expect(told).toMatchObject([{ name: 'outcome_unknown', signalId: 'buy-1', status: 'placed' }]);
  expect(executed.indexOf('buy-2')).toBe(executed.lastIndexOf('buy-1') + 1);
  expect((await relay.entry('buy-1')).steps.map(({ status }) => status)).toEqual([
    'accepted',
    'sending',
    'unknown',
  ]);
  await reconcileSignals(services);
  expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed' });
  expect(relay.paper.control.state().orders).toHaveLength(2);
});
