import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { dialects } from '../exchange/dialect.ts';

/** Where the pieces of a local run are. */
export interface DataFolder {
  readonly path: string;
  /** Ledger and queue. */
  readonly databasePath: string;
  /** The paper exchange's world. */
  readonly paperPath: string;
  readonly secretsPath: string;
  readonly logPath: string;
  readonly lockPath: string;
  readonly runPath: string;
}

const RunSchema = z.strictObject({
  relayUrl: z.string(),
  exchangeUrl: z.string(),
  dialect: z.enum(dialects),
});

/** Where the relay of a data folder was last started; the CLI reaches it there. */
export type Run = z.output<typeof RunSchema>;

export function locateDataFolder(path: string): DataFolder {
  return {
    path,
    databasePath: join(path, 'relay.db'),
    paperPath: join(path, 'paper.db'),
    secretsPath: join(path, 'secrets.json'),
    logPath: join(path, 'relay.log'),
    lockPath: join(path, 'lock.db'),
    runPath: join(path, 'run.json'),
  };
}

/** Creates the folder, readable by its owner only, where there is none. */
export function createDataFolder(path: string): DataFolder {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return locateDataFolder(path);
}

export function writeRun(folder: DataFolder, run: Run): void {
  writeFileSync(`${folder.runPath}.new`, JSON.stringify(run));
  renameSync(`${folder.runPath}.new`, folder.runPath);
}

/** Null when the relay was never started on this folder. */
export function readRun(folder: DataFolder): Run | null {
  try {
    return RunSchema.parse(JSON.parse(readFileSync(folder.runPath, 'utf8')));
  } catch {
    return null;
  }
}
