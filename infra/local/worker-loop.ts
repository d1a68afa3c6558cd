import type { SQSEvent } from 'aws-lambda';
import { describeError } from '../../lib/base/describe-error.ts';
import type { Log } from '../../lib/base/log.ts';
import type { WorkerHandler } from '../../lib/host/worker.ts';
import type { Delivery, SignalSource } from '../../lib/queue/queue.ts';

/** The local counterpart of the event source mapping: delivers messages to the worker, group by group. */
export interface WorkerLoop {
  /** Delivers no more messages and waits for those in progress. */
  stop(): Promise<void>;
}

/** One message at a time, so that a failing message does not take others with it to the dead-letter queue. */
const maximumBatch = 1;
/** How many groups are handled in parallel. */
const maximumGroups = 64;

export function startWorkerLoop(source: SignalSource, executeSignal: WorkerHandler, log: Log): WorkerLoop {
  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();

  async function handle(deliveries: readonly Delivery[]): Promise<void> {
    const { batchItemFailures } = await executeSignal(toEvent(deliveries));
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const receipts = deliveries.map(({ receipt }) => receipt);
    const [unhandled, handled] = [
      receipts.filter((r) => failed.has(r)),
      receipts.filter((r) => !failed.has(r)),
    ];
    if (handled.length > 0) await source.remove(handled);
    if (unhandled.length > 0) await source.release(unhandled);
  }

  /**
   * If the queue cannot be written, the messages stay in it and are delivered again, which the worker
   * tolerates.
   */
  async function release(deliveries: readonly Delivery[], error: unknown): Promise<void> {
    log.error('the queue could not be written', {
      reason: describeError(error),
    });
    await source.release(deliveries.map(({ receipt }) => receipt)).catch(() => undefined);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (inFlight.size >= maximumGroups) await Promise.race(inFlight);
      const deliveries = await source.receive(maximumBatch);
      if (deliveries.length === 0) {
        // Work in flight frees its group when it finishes, which ends this wait. A race would leave pending
        // waits behind.
        await source.waitForWork(stopping.signal);
        continue;
      }
      const work: Promise<void> = handle(deliveries)
        .catch((error: unknown) => release(deliveries, error))
        .finally(() => inFlight.delete(work));
      inFlight.add(work);
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

/** The parts of an SQS FIFO event that the worker reads. */
function toEvent(deliveries: readonly Delivery[]): SQSEvent {
  return {
    Records: deliveries.map(({ receipt, group, body, receiveCount, sentAtMs }) => ({
      messageId: receipt,
      receiptHandle: receipt,
      body,
      attributes: {
        ApproximateReceiveCount: String(receiveCount),
        SentTimestamp: String(sentAtMs),
        SenderId: '',
        ApproximateFirstReceiveTimestamp: '',
        MessageGroupId: group,
      },
      messageAttributes: {},
      md5OfBody: '',
      eventSource: 'aws:sqs',
      eventSourceARN: '',
      awsRegion: '',
    })),
  };
}
