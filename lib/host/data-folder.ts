import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { describeError } from '../base/describe-error.ts';
import { RelayError } from '../base/errors.ts';
import { readJson } from '../base/json.ts';
import { dialects } from '../exchange/dialect.ts';
import { flushFolder } from './flush-folder.ts';
import { replaceFile } from './replace-file.ts';

/** The paths of the files of a local run. */
export interface DataFolder {
  readonly path: string;
  /** Ledger and queue. */
  readonly databasePath: string;
  /** The state of the paper exchange. */
  readonly paperPath: string;
  readonly secretsPath: string;
  readonly logPath: string;
  readonly lockPath: string;
  readonly runPath: string;
}

/** A later release may write more than this one reads. */
const RunSchema = z.object({
  relayUrl: z.string(),
  exchangeUrl: z.string(),
  dialect: z.enum(dialects),
  /** Absent: on paper. */
  trades: z.literal('live').optional(),
  /** The address that TradingView calls; absent: that of the relay. */
  publicUrl: z.string().optional(),
  /** Of the configuration that the relay read at its start; absent: an older release wrote the file. */
  configDigest: z.string().optional(),
});

/** How the relay of a data folder was last started; the CLI connects to its addresses. */
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

/**
 * Creates the folder if it does not exist, readable by its owner only.
 *
 * @throws RelayError `store_unavailable` when it cannot be created
 */
export function createDataFolder(path: string): DataFolder {
  try {
    makeFolder(resolve(path));
    // Also when it was there: the process that made it may have been killed before this.
    flushFolder(dirname(resolve(path)));
  } catch (error) {
    throw new RelayError(
      'store_unavailable',
      `the data folder "${path}" cannot be created: ${describeError(error)}; choose another with --data`,
      { cause: error },
    );
  }
  return locateDataFolder(path);
}

/**
 * Creates parent folders too. Node's recursive mkdir never
 * returns where no folder can be created, as under `/proc`.
 */
function makeFolder(path: string): void {
  if (existsSync(path) && statSync(path).isDirectory()) return;
  const parent = dirname(path);
  if (!existsSync(parent)) {
    makeFolder(parent);
    flushFolder(dirname(parent));
  }
  mkdirSync(path, { mode: 0o700 });
}

/**
 * Writes how the relay runs to run.json, unless the file says so already.
 *
 * @throws the operating system's error; the file is then unchanged
 */
export function writeRun(folder: DataFolder, run: Run): void {
  if (!isDeepStrictEqual(readRun(folder), run)) replaceFile(folder.runPath, JSON.stringify(run));
}

/** Null when the relay was never started on this folder, or the file cannot be read. */
export function readRun(folder: DataFolder): Run | null {
  try {
    return RunSchema.parse(readJson(readFileSync(folder.runPath, 'utf8')));
  } catch {
    return null;
  }
}
