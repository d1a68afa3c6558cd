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
 * A signal that waits for an earlier one of its market, or for the exchange, is no failure. Its message comes again a few
 * times, with the pauses of a failed one. After that the message is done, so that it does not become a dead letter, and the
 * reconciler enqueues the signal again. Later messages of the group find it in the ledger and wait behind it.
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
      if (!mayComeAgain(log, record, error)) continue;
      return records.slice(index);
    }
  }
  return [];
}

/** The deliveries that are left after these are for failures, so that no signal becomes a dead letter because it waits. */
const mostWaits = 3;

/** Whether the queue is to deliver the message again. */
function mayComeAgain(log: Log, record: SQSRecord, error: unknown): boolean {
  const receiveCount = receiveCountOf(record);
  const facts = {
    messageId: record.messageId,
    group: record.attributes.MessageGroupId ?? '',
    receiveCount,
    reason: describeError(error),
  };
  if (!isAwaited(error)) {
    log.error(
      'message not handled; the queue delivers it again, up to the maximum number of deliveries',
      facts,
    );
    return true;
  }
  const isAgain = receiveCount <= mostWaits;
  log.info(`signal waits; the ${isAgain ? 'queue delivers' : 'reconciler enqueues'} it again`, facts);
  return isAgain;
}

/**
 * The whole group waits for its first message, so the pause is
 * shorter than signals may be late; it grows with each delivery.
 */
const pauseStepMs = 5_000;

/** @param records of one group; the first one failed or waits */
async function postponeAll(
  log: Log,
  postpone: PostponeMessage,
  records: readonly SQSRecord[],
): Promise<void> {
  const [first] = records;
  if (first === undefined) return;
  const pauseMs = pauseStepMs * receiveCountOf(first);
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
