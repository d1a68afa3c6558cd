import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { describeError } from '../base/describe-error.ts';
import type { Log } from '../base/log.ts';
import { type PostponeMessage, parseSignalMessage } from '../queue/queue.ts';
import { executeSignal } from '../relay/execute-signal.ts';
import type { ExecuteServices } from '../relay/services.ts';

/** Handles the body of one message; throws when it should come again. */
export type HandleMessage = (body: string) => Promise<void>;

export type WorkerHandler = (event: SQSEvent) => Promise<SQSBatchResponse>;

/**
 * The signal queue's consumer: carries signals out, in order for each account and market.
 *
 * @param services `postponeMessage`: see `createWorker`
 */
export function createExecuteSignal(
  services: ExecuteServices & { readonly postponeMessage?: PostponeMessage },
): WorkerHandler {
  const execute = async (body: string) => {
    await executeSignal(services, parseSignalMessage(body));
  };
  return createWorker(services.log, execute, services.postponeMessage);
}

/**
 * Puts a handler behind an SQS FIFO queue: groups side by side, each group strictly in order.
 *
 * After a failure the rest of its group is reported unhandled too, so that nothing overtakes; other groups go on.
 *
 * @param postpone absent: what was not handled comes again after the queue's own pause
 */
export function createWorker(log: Log, handle: HandleMessage, postpone?: PostponeMessage): WorkerHandler {
  return async ({ Records }) => {
    const groups = Map.groupBy(Records, ({ attributes }) => attributes.MessageGroupId ?? '');
    const unhandled = await Promise.all(
      [...groups.values()].map((records) => handleGroup(log, handle, records)),
    );
    if (postpone !== undefined) await Promise.all(unhandled.map((left) => postponeAll(log, postpone, left)));
    return { batchItemFailures: unhandled.flat().map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
}

/** @returns the records that must come again */
async function handleGroup(
  log: Log,
  handle: HandleMessage,
  records: readonly SQSRecord[],
): Promise<readonly SQSRecord[]> {
  for (const [index, record] of records.entries()) {
    try {
      await handle(record.body);
    } catch (error) {
      log.error('message not handled; it comes again, up to its last hand-out', {
        messageId: record.messageId,
        group: record.attributes.MessageGroupId ?? '',
        receiveCount: receiveCountOf(record),
        reason: describeError(error),
      });
      return records.slice(index);
    }
  }
  return [];
}

/** A group waits for the message at its head: less long than signals may be late, and longer with every failure. */
const pauseStepMs = 5_000;

/** @param records of one group; the first one failed */
async function postponeAll(
  log: Log,
  postpone: PostponeMessage,
  records: readonly SQSRecord[],
): Promise<void> {
  const [failed] = records;
  if (failed === undefined) return;
  const pauseMs = pauseStepMs * receiveCountOf(failed);
  try {
    await Promise.all(records.map(({ receiptHandle }) => postpone(receiptHandle, pauseMs)));
  } catch (error) {
    // They come again all the same, later.
    log.warn('the queue could not be told to hand a message out again soon', {
      reason: describeError(error),
    });
  }
}

function receiveCountOf({ attributes }: SQSRecord): number {
  return Number(attributes.ApproximateReceiveCount);
}
