import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseOwnJson } from '../base/json.ts';

/** The version of this project in its package.json, for example `0.1.0`. */
export function readVersion(): string {
  const path = join(import.meta.dirname, '..', '..', 'package.json');
  return parseOwnJson<{ readonly version: string }>(readFileSync(path, 'utf8')).version;
}
