import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { describeError } from '../base/describe-error.ts';
import { isAwaited } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { parseSignalMessage } from '../queue/parse-message.ts';
import { coldStartAttribute, type PostponeMessage, type SignalMessage } from '../queue/queue.ts';

/**
 * Handles one message; throws when the queue should deliver it again.
 *
 * @param metColdStart whether its signal met a cold start when it was received
 */
export type HandleMessage = (message: SignalMessage, metColdStart: boolean) => Promise<unknown>;

export type WorkerHandler = (event: SQSEvent) => Promise<SQSBatchResponse>;

/**
 * Puts a handler behind an SQS FIFO queue: groups side by side, each group strictly in order.
 *
 * After a failure, the rest of the group is reported as unhandled too,
 * so that no message overtakes the failed one. Other groups continue.
 *
 * A signal that waits for an earlier one of its market is no failure: its message is done, so that deliveries are not
 * counted, and the reconciler enqueues the signal again. Later messages of the group find it in the ledger and wait behind
 * it.
 */
export function createWorker(log: Log, handle: HandleMessage, postpone: PostponeMessage): WorkerHandler {
  return async ({ Records }) => {
    const groups = Map.groupBy(Records, ({ attributes }) => attributes.MessageGroupId ?? '');
    const unhandled = await Promise.all(
      [...groups.values()].map((records) => handleGroup(log, handle, records)),
    );
    await Promise.all(unhandled.map((left) => postponeAll(log, postpone, left)));
    return { batchItemFailures: unhandled.flat().map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
}

/** @returns the records that the queue must deliver again */
async function handleGroup(
  log: Log,
  handle: HandleMessage,
  records: readonly SQSRecord[],
): Promise<readonly SQSRecord[]> {
  for (const [index, record] of records.entries()) {
    try {
      const metColdStart = record.messageAttributes?.[coldStartAttribute] !== undefined;
      await handle(parseSignalMessage(record.body), metColdStart);
    } catch (error) {
      if (isAwaited(error)) {
        log.info('signal waits; the reconciler enqueues it again', {
          messageId: record.messageId,
          group: record.attributes.MessageGroupId ?? '',
          reason: describeError(error),
        });
        continue;
      }
      log.error('message not handled; the queue delivers it again, up to the maximum number of deliveries', {
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

/**
 * The whole group waits for its first message, so the pause is
 * shorter than signals may be late; it grows with each failure.
 */
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
    // The queue still delivers them again, only later.
    log.warn('an unhandled message could not be scheduled for early redelivery', {
      reason: describeError(error),
    });
  }
}

function receiveCountOf({ attributes }: SQSRecord): number {
  return Number(attributes.ApproximateReceiveCount);
}
