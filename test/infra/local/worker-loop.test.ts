import { expect, test } from '@jest/globals';
import { startWorkerLoop } from '../../../infra/local/worker-loop.ts';
import { openStore, orderIn } from '../../queue/open-store.ts';
import { createListeningLog } from '../../support/listening-log.ts';

test('a worker loop that is stopped while it is full starts no further signal', async () => {
  const store = openStore();
  const ids = Array.from({ length: 65 }, (_, index) => `s-${index}`);
  // Each in a market of its own: all but the last are executed side by side.
  for (const id of ids) await store.ledger.accept([orderIn(id, `${id}_USDT`)], null);
  const started: string[] = [];
  const executed = Promise.withResolvers<void>();
  const execute = ({ signalId }: { readonly signalId: string }) => {
    started.push(signalId);
    return executed.promise;
  };
  const worker = startWorkerLoop(store.line, execute, createListeningLog().log);

  const stopped = worker.stop();
  executed.resolve();
  await stopped;

  expect(started).toEqual(ids.slice(0, 64));
  store.file.close();
});
