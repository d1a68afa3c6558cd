import { randomUUID } from 'node:crypto';
import type { Alarm } from '../base/alarms.ts';
import { type DynamodbClient, formatTime } from '../base/dynamodb.ts';
import { DynamodbTable } from '../base/dynamodb-table.ts';
import type { LogFacts } from '../base/log.ts';
import { alarmPrefix, dayPrefix, expiryAttribute } from './dynamodb-items.ts';
import { accountIn } from './ledger-change.ts';

/** What is stored beside the entries for people alone, so that the table's stream tells of it. */
export interface DynamodbNotes {
  /** Durable once it resolves. @throws RelayError `store_unavailable` */
  addAlarm(alarm: Alarm, facts: LogFacts, atMs: number): Promise<void>;
  /** Stores the figures of a day unless that was done. @throws RelayError `store_unavailable` */
  addDay(account: string, day: string, lines: readonly string[], atMs: number): Promise<void>;
}

/** The partition of alarms that concern no single account; no account can have this name. */
const noAccount = '#relay';

export function createDynamodbNotes(options: {
  readonly client: DynamodbClient;
  readonly tableName: string;
  readonly keepDays: number;
}): DynamodbNotes {
  const table = new DynamodbTable({ ...options, contents: 'the notes' });
  const expiry = (atMs: number) => ({
    [expiryAttribute]: { N: String(Math.ceil(atMs / 1000) + options.keepDays * 86_400) },
  });
  return {
    async addAlarm({ name, message }, facts, atMs) {
      await table.put({
        account: { S: accountIn(facts) ?? noAccount },
        item: { S: `${alarmPrefix}${formatTime(atMs)}#${randomUUID()}` },
        name: { S: name },
        message: { S: message },
        facts: { S: JSON.stringify(facts) },
        atMs: { N: String(atMs) },
        ...expiry(atMs),
      });
    },
    async addDay(account, day, lines, atMs) {
      await table.create({
        account: { S: account },
        item: { S: `${dayPrefix}${day}` },
        lines: { S: JSON.stringify(lines) },
        ...expiry(atMs),
      });
    },
  };
}
