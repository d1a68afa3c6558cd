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
      const run = () => original.apply(this, values);
      return isCommit(this.sourceSQL) ? runUnflushed(run) : run();
    },
  });
}
