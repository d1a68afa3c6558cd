import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseOwnJson } from '../../lib/base/json.ts';
import { projectRoot } from './project-files.ts';

/**
 * What releases with an older ledger left behind, by the version of the ledger's tables: data folder and stack. Each data
 * folder was written by a relay of that release, which took the same alerts; it holds no secrets. `ledger-9` is the newest
 * that was kept: with version 10 comes the next.
 */
export const keptVersions = [3, 4, 5, 6, 7, 8, 9] as const;
export type KeptVersion = (typeof keptVersions)[number];

const folderOf = (version: KeptVersion) =>
  join(projectRoot, 'test', 'fixtures', 'upgrade', `ledger-${version}`);

/** Puts the databases of a kept data folder into a folder. */
export function unpackFolder(version: KeptVersion, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of ['relay.db', 'paper.db'])
    writeFileSync(join(folder, name), gunzipSync(readFileSync(join(folderOf(version), `${name}.gz`))));
}

/** A resource that keeps something, with the properties that CloudFormation can change by making another one only. */
export interface KeptResource {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly fixed: Readonly<Record<string, unknown>>;
}

/** Logical id → resource, as the template of that release had it for the shipped configuration. */
export function readKeptStack(version: KeptVersion): Readonly<Record<string, KeptResource>> {
  return parseOwnJson(readFileSync(join(folderOf(version), 'stack.json'), 'utf8'));
}
