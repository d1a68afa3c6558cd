import { describeError } from '../base/describe-error.ts';
import { fieldsOf, type Json } from '../base/json.ts';
import { changesOf, type StreamRecord } from '../ledger/dynamodb-changes.ts';
import type { DynamodbNotes } from '../ledger/dynamodb-notes.ts';
import { describeDay, dueDay, type HeartbeatServices } from '../notices/heartbeat.ts';
import { levelOf } from '../notices/notice-settings.ts';
import { type BatchServices, tellBatch } from '../notices/tell-batch.ts';
import type { ScheduleHandler } from './schedule.ts';

export interface NoticeServices extends BatchServices, HeartbeatServices {
  readonly ledger: BatchServices['ledger'] & HeartbeatServices['ledger'];
  readonly notes: Pick<DynamodbNotes, 'addDay'>;
  readonly accounts: readonly string[];
}

/** No request begins and no wait ends later than this after the start: well before the timeout of the function. */
const longestTellingMs = 40_000;

/**
 * Handles the records of the ledger's stream, and the run of a schedule that asks for the heartbeat: its figures are stored in
 * the ledger, and the stream tells of them.
 *
 * A failure throws: the records are delivered again until they are told.
 */
export function createNoticeHandler(services: NoticeServices): ScheduleHandler {
  const { clock, log } = services;
  return async (event) => {
    const { Records } = fieldsOf(event as Json);
    try {
      if (!Array.isArray(Records)) return await noteDays(services);
      const changes = (Records as readonly unknown[] as readonly StreamRecord[]).flatMap((record) =>
        changesOf(record).map((change) => ({ change, madeAtMs: madeAtMsOf(record, clock.nowMs()) })),
      );
      if (changes.length > 0) await tellBatch(services, changes, clock.nowMs() + longestTellingMs);
    } catch (error) {
      log.error('notices were not told; they are delivered again', { reason: describeError(error) });
      throw error;
    }
  };
}

function madeAtMsOf({ dynamodb }: StreamRecord, nowMs: number): number {
  const second = dynamodb?.ApproximateCreationDateTime;
  return second === undefined ? nowMs : second * 1000;
}

async function noteDays(services: NoticeServices): Promise<void> {
  const { settings, accounts, clock, notes } = services;
  const nowMs = clock.nowMs();
  for (const account of accounts)
    if (levelOf(settings, account, 'heartbeat') !== 'off')
      await notes.addDay(
        account,
        dueDay(settings, nowMs),
        await describeDay(services, account, nowMs),
        nowMs,
      );
}
