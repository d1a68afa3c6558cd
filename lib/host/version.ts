import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The version of this project in its package.json, for example `0.1.0`. */
export function readVersion(): string {
  const path = join(import.meta.dirname, '..', '..', 'package.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }).version;
}
