import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Log } from '../base/log.ts';

/** Handles the body of one message; throws when it should come again. */
export type MessageStory = (body: string) => Promise<void>;

export type WorkerHandler = (event: SQSEvent) => Promise<SQSBatchResponse>;

/**
 * Puts a story behind an SQS FIFO queue: groups side by side, each group strictly in order.
 *
 * After a failure the rest of its group is reported unhandled too, so that nothing overtakes; other groups go on.
 */
export function createWorker(log: Log, story: MessageStory): WorkerHandler {
  const handler = middy<SQSEvent, SQSBatchResponse>().handler(async ({ Records }) => {
    const groups = Map.groupBy(Records, ({ attributes }) => attributes.MessageGroupId ?? '');
    const unhandled = await Promise.all(
      [...groups.values()].map((records) => handleGroup(log, story, records)),
    );
    return { batchItemFailures: unhandled.flat().map(({ messageId }) => ({ itemIdentifier: messageId })) };
  });
  // middy wants Lambda's context, of which no part is used.
  return (event) => handler(event, {} as Parameters<typeof handler>[1]);
}

/** @returns the records that must come again */
async function handleGroup(
  log: Log,
  story: MessageStory,
  records: readonly SQSRecord[],
): Promise<readonly SQSRecord[]> {
  for (const [index, record] of records.entries()) {
    try {
      await story(record.body);
    } catch (error) {
      log.error('message not handled; it comes again, up to its last hand-out', {
        messageId: record.messageId,
        group: record.attributes.MessageGroupId ?? '',
        receiveCount: Number(record.attributes.ApproximateReceiveCount),
        reason: error instanceof Error ? `${error.name}: ${error.message}` : 'unknown',
      });
      return records.slice(index);
    }
  }
  return [];
}
