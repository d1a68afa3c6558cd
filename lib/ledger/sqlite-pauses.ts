import type { SqliteFile } from '../base/sqlite.ts';
import { type Pause, pauseKindOf } from './ledger.ts';
import type { Statements } from './sqlite-entries.ts';

/** The kill switches of all accounts on SQLite. */
export class SqlitePauses {
  readonly #file: SqliteFile;
  readonly #statements: Statements;

  constructor(file: SqliteFile, statements: Statements) {
    this.#file = file;
    this.#statements = statements;
  }

  async read(account: string): Promise<Pause | null> {
    return this.#file.read(() => this.#find(account));
  }

  async write(account: string, pause: Pause | null): Promise<void> {
    const { pause: insert, resume } = this.#statements;
    await this.#file.write(() =>
      pause === null ? resume.run(account) : insert.run(account, pause.sinceMs, pause.reason, pause.kind),
    );
  }

  async begin(account: string, { sinceMs, reason, kind }: Pause): Promise<boolean> {
    return await this.#file.write(() => {
      this.#statements.pauseRunning.run(account, sinceMs, reason, kind);
      const found = this.#find(account);
      return found?.sinceMs === sinceMs && found.reason === reason;
    });
  }

  #find(account: string): Pause | null {
    const row = this.#statements.readPause.get(account);
    if (row === undefined) return null;
    const [reason, kind] = [String(row['reason']), row['kind']];
    return {
      sinceMs: Number(row['since_ms']),
      reason,
      kind: pauseKindOf(typeof kind === 'string' ? kind : null, reason),
    };
  }
}
