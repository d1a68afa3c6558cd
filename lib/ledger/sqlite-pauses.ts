import type { SqliteFile } from '../base/sqlite.ts';
import type { Pause } from './ledger.ts';
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
      pause === null ? resume.run(account) : insert.run(account, pause.sinceMs, pause.reason),
    );
  }

  async begin(account: string, { sinceMs, reason }: Pause): Promise<boolean> {
    return await this.#file.write(() => {
      this.#statements.pauseRunning.run(account, sinceMs, reason);
      const found = this.#find(account);
      return found?.sinceMs === sinceMs && found.reason === reason;
    });
  }

  #find(account: string): Pause | null {
    const row = this.#statements.readPause.get(account);
    return row === undefined ? null : { sinceMs: Number(row['since_ms']), reason: String(row['reason']) };
  }
}
