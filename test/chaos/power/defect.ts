import { DatabaseSync, StatementSync } from 'node:sqlite';

/**
 * Loaded into a relay before its own code: spoils its use of SQLite as `POWER_DEFECT` says.
 *
 * A commit whose flush is left out is on the disk with the next commit that is flushed.
 */
const defect = process.env['POWER_DEFECT'];

/** What the open transaction has written. */
const written = { accepted: false, sending: false };

function leavesFlushOut(): boolean {
  return (
    (defect === 'accept-unflushed' && written.accepted) || (defect === 'send-unflushed' && written.sending)
  );
}

/** The played disk reads this variable at each flush. */
function runUnflushed<T>(commit: () => T): T {
  if (leavesFlushOut()) process.env['PLAYED_DISK_IGNORE'] = '-wal';
  try {
    return commit();
  } finally {
    delete process.env['PLAYED_DISK_IGNORE'];
    Object.assign(written, { accepted: false, sending: false });
  }
}

function see(sql: string, values: readonly unknown[] = []): void {
  const isWrite = /^\s*(INSERT|UPDATE|REPLACE|WITH)\b/i.test(sql);
  const isSending = values.some((value) => typeof value === 'string' && value.includes('"status":"sending"'));
  if (/INSERT INTO entries\b/i.test(sql)) written.accepted = true;
  if (isWrite && (isSending || /status = 'sending'/i.test(sql.split(/\bWHERE\b/i)[0] ?? '')))
    written.sending = true;
}

/** Where a channel notes what it has told, and where what every channel has told is forgotten. */
const statesStatement = /INSERT OR REPLACE INTO notice_channels\b/i;
const forgetStatement = /DELETE FROM ledger_changes\b/i;

/** What a defect of the notices writes instead; null: nothing. */
function spoilNotes(sql: string, values: readonly unknown[]): readonly unknown[] | null {
  const isNote = statesStatement.test(sql);
  if (defect === 'notices-unkept' && (isNote || forgetStatement.test(sql))) return null;
  if (!isNote) return values;
  const [channel, text] = values as readonly [string, string];
  const state = JSON.parse(text) as { seq: number; failure: string | null };
  if (defect !== 'notices-unasked' || state.failure === null) return values;
  return [channel, JSON.stringify({ ...state, seq: lastSeq, failures: 0, failure: null, retryAtMs: 0 })];
}

/** The place of the newest change that was read for the notices. */
let lastSeq = 0;

function noteSeq(sql: string, rows: unknown): void {
  if (!/FROM ledger_changes WHERE seq > /i.test(sql) || !Array.isArray(rows)) return;
  for (const { seq } of rows as readonly { seq: number }[]) lastSeq = Math.max(lastSeq, seq);
}

const isCommit = (sql: string): boolean => /^\s*(COMMIT|END)\b/i.test(sql);

const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql) {
  const changed =
    defect === 'synchronous-normal' ? sql.replace(/synchronous\s*=\s*FULL/i, 'synchronous = NORMAL') : sql;
  see(changed);
  return isCommit(changed) ? runUnflushed(() => exec.call(this, changed)) : exec.call(this, changed);
};

for (const name of ['run', 'get', 'all'] as const) {
  const original = StatementSync.prototype[name] as (this: StatementSync, ...values: unknown[]) => unknown;
  Object.assign(StatementSync.prototype, {
    [name](this: StatementSync, ...values: unknown[]) {
      see(this.sourceSQL, values);
      const written = spoilNotes(this.sourceSQL, values);
      if (written === null) return undefined;
      const run = () => {
        const result = original.apply(this, [...written]);
        noteSeq(this.sourceSQL, result);
        return result;
      };
      return isCommit(this.sourceSQL) ? runUnflushed(run) : run();
    },
  });
}
