import { describeError } from '../../lib/base/describe-error.ts';
import { isAwaited } from '../../lib/base/errors.ts';
import type { Log } from '../../lib/base/log.ts';
import type { SignalMessage } from '../../lib/queue/queue.ts';
import type { SqliteLine } from '../../lib/queue/sqlite-line.ts';
import type { SignalDelivery } from '../../lib/queue/waiting-signal.ts';

/** Executes the waiting signals, one at a time for each account and market. */
export interface WorkerLoop {
  /** Starts no more signals and waits for those in progress. */
  stop(): Promise<void>;
}

/** How many signals are executed side by side. */
const mostInFlight = 64;

/**
 * Starts to execute the signals of the line.
 *
 * @param execute throws when the signal must be tried again
 */
export function startWorkerLoop(
  line: Pick<SqliteLine, 'take' | 'finish' | 'release' | 'postpone' | 'waitForWork'>,
  execute: (signal: SignalMessage) => Promise<unknown>,
  log: Log,
): WorkerLoop {
  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();

  async function handle(delivery: SignalDelivery): Promise<void> {
    const { key, group, deliveries } = delivery;
    try {
      await execute(key);
    } catch (error) {
      if (isAwaited(error)) {
        log.info('signal waits', {
          account: key.account,
          signalId: key.signalId,
          reason: describeError(error),
        });
        line.postpone(delivery);
        return;
      }
      log.error('signal not handled; it is tried again, up to the maximum number of times', {
        account: key.account,
        signalId: key.signalId,
        group,
        deliveries,
        reason: describeError(error),
      });
      await line.release(delivery);
      return;
    }
    line.finish(delivery);
  }

  function begin(delivery: SignalDelivery): void {
    const work: Promise<void> = handle(delivery)
      .catch((error: unknown) => {
        // The signal keeps its place in line, and is delivered again.
        log.error('the line of waiting signals could not be written', { reason: describeError(error) });
      })
      .finally(() => inFlight.delete(work));
    inFlight.add(work);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (inFlight.size >= mostInFlight) {
        await Promise.race(inFlight);
        continue;
      }
      const delivery = line.take();
      if (delivery === null) await line.waitForWork(stopping.signal);
      else begin(delivery);
    }
    await Promise.all(inFlight);
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
