import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import * as z from 'zod';
import type {
  AccountHealth,
  AlarmShown,
  CheckShown,
  HealthDocument,
  PauseShown,
} from '../../dashboard/documents.ts';
import { parseReading } from '../../lib/account/read-positions.ts';
import { readJson } from '../../lib/base/json.ts';
import { locateDataFolder } from '../../lib/host/data-folder.ts';
import { CommandFailure } from '../failure.ts';
import type { Session } from '../session/session.ts';
import { isSystemError } from '../system-error.ts';
import { readNotices } from './read-notices.ts';

/** What `doctor` finds, and when the relay last read and recorded what it reads and records. */
export async function readHealth(session: Session, checks: readonly CheckShown[]): Promise<HealthDocument> {
  const accounts = Object.keys(session.settings.accounts);
  return {
    atMs: session.clock.nowMs(),
    checks,
    accounts: await Promise.all(accounts.map((account) => readAccount(session, account))),
    notices: await readNotices(session),
    alarms: readAlarms(session),
  };
}

async function readAccount(session: Session, account: string): Promise<AccountHealth> {
  const pause = await session.openLedger().readPause(account);
  const shown: PauseShown | null = pause === null ? null : { account, ...pause };
  const reading = parseReading(await session.openFacts().read(account, 'positions'));
  return {
    account,
    pause: shown,
    positionsReadAtMs: reading?.readAtMs ?? null,
    snapshotAtMs: await readSnapshotTime(session, account),
  };
}

async function readSnapshotTime(session: Session, account: string): Promise<number | null> {
  try {
    const newest = await session.openSnapshots().balances.readAt(account, session.clock.nowMs());
    return newest?.takenAtMs ?? null;
  } catch (error) {
    // A stack of an older release records none.
    if (error instanceof CommandFailure) return null;
    throw error;
  }
}

/** Alarms are looked for in the end of the log alone. */
const logBytesRead = 512 * 1024;
const mostAlarms = 50;

const AlarmLine = z.object({
  alarm: z.literal(true),
  alarmName: z.string(),
  message: z.string(),
  timestamp: z.string(),
});

/** On AWS an alarm becomes a metric and a mail, and `doctor` shows their state. */
function readAlarms({ target }: Session): readonly AlarmShown[] | null {
  if (target.kind !== 'local') return null;
  const lines = readEnd(locateDataFolder(target.data).logPath).split('\n');
  const alarms = lines.flatMap((line) => {
    if (!line.includes('"alarm":true')) return [];
    const read = AlarmLine.safeParse(readJson(line));
    if (!read.success) return [];
    const { alarmName: name, message, timestamp } = read.data;
    return [{ atMs: Date.parse(timestamp), name, message }];
  });
  return alarms.slice(-mostAlarms).reverse();
}

/** Empty when there is no log. */
function readEnd(path: string): string {
  try {
    const file = openSync(path, 'r');
    try {
      const { size } = fstatSync(file);
      const buffer = Buffer.alloc(Math.min(size, logBytesRead));
      const read = readSync(file, buffer, 0, buffer.length, size - buffer.length);
      return buffer.subarray(0, read).toString();
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (isSystemError(error)) return '';
    throw error;
  }
}
