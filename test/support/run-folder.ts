import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** In the words of Linux, macOS and Windows. */
const temporaryFolderNames = ['TMPDIR', 'TEMP', 'TMP'];

/** The temporary folder of one run of the tests. */
export interface RunFolder {
  readonly path: string;
  /** Removes the folder. @returns what the run left in it */
  close(): readonly string[];
}

/** From now on, this process and those that it starts have a temporary folder of their own. */
export function openRunFolder(): RunFolder {
  const before = temporaryFolderNames.map((name) => [name, process.env[name]] as const);
  const path = mkdtempSync(join(tmpdir(), 'relay-tests-'));
  for (const name of temporaryFolderNames) process.env[name] = path;
  return {
    path,
    close() {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
      const left = readdirSync(path);
      rmSync(path, { recursive: true, force: true });
      return left;
    },
  };
}
