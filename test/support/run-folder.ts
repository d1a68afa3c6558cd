import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs';
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
  const parent = isMemoryUsable() ? memoryFolder : tmpdir();
  removeAbandoned(parent);
  const path = mkdtempSync(join(parent, `relay-tests-${process.pid}-`));
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

/** On Linux: files in memory. Hundreds of tests open a database of their own, and would wait for each flush. */
const memoryFolder = '/dev/shm';
const neededBytes = 1024 ** 3;

/** Whether it has the space, and lets the programs run that tests write; that of a container often does not. */
function isMemoryUsable(): boolean {
  if (process.platform !== 'linux' || !existsSync(memoryFolder)) return false;
  try {
    accessSync(memoryFolder, constants.W_OK);
    const { bavail, bsize } = statfsSync(memoryFolder);
    const mount = readFileSync('/proc/mounts', 'utf8').match(/^\S+ \/dev\/shm tmpfs (\S+)/m);
    return bavail * bsize >= neededBytes && mount !== null && !mount[1]?.split(',').includes('noexec');
  } catch {
    return false;
  }
}

/** A run that was killed could not remove its folder, which may lie in memory. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = /^relay-tests-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid)))
      rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It belongs to someone else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
