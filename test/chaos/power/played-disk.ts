import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Random } from '../../../lib/base/random.ts';
import type { CutCounts } from './disk-file.ts';
import { DiskImage, type FolderContents, isMapped } from './disk-image.ts';
import { type DiskCall, readDiskJournal } from './disk-journal.ts';

/** A folder on a disk whose power can be cut. */
export interface PlayedDisk {
  /** The only folder whose files are played; it exists, and is empty at first. */
  readonly path: string;
  /**
   * The environment of a process that uses the disk. One process may use it at a time.
   *
   * @param cut where the process ends itself, for example `calls:120`; null: nowhere
   */
  environment(cut: string | null): Readonly<Record<string, string>>;
  /**
   * Takes in what a process did, once it has ended.
   *
   * @returns whether the process ended itself where its environment said
   * @throws Error when the folder is not as the recorded calls made it: then some call was not recorded
   */
  takeIn(): boolean;
  /** Leaves in the folder what survives a power cut. */
  cutPower(): void;
  /** Empties the folder, as if it had never been used. */
  empty(): void;
  readonly counts: Readonly<CutCounts>;
  remove(): void;
}

const source = fileURLToPath(new URL('played-disk.c', import.meta.url));

/** @throws Error on a system without a C compiler, and on other systems than Linux */
export function createPlayedDisk(random: Random): PlayedDisk {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'relay-power-')));
  const [path, journalPath, libraryPath] = ['disk', 'journal', 'played-disk.so'].map((name) =>
    join(home, name),
  ) as [string, string, string];
  const remove = () => rmSync(home, { recursive: true, force: true });
  try {
    compile(libraryPath);
  } catch (error) {
    remove();
    throw error;
  }
  mkdirSync(path, { mode: 0o700 });
  const counts: CutCounts = { kept: 0, dropped: 0, torn: 0, entriesKept: 0, entriesDropped: 0 };
  let image = new DiskImage(path, new Map());

  function restart(contents: FolderContents): void {
    rmSync(path, { recursive: true });
    mkdirSync(path, { mode: 0o700 });
    for (const [name, bytes] of contents)
      if (bytes === null) mkdirSync(join(path, name), { mode: 0o700 });
      else writeFileSync(join(path, name), bytes, { mode: 0o600 });
    image = new DiskImage(path, contents);
  }

  return {
    path,
    environment: (cut) => ({
      LD_PRELOAD: libraryPath,
      PLAYED_DISK_FOLDER: path,
      PLAYED_DISK_JOURNAL: journalPath,
      ...(cut === null ? {} : { PLAYED_DISK_CUT: cut }),
    }),
    takeIn() {
      const calls = readDiskJournal(readFileSync(journalPath), image.lastNumber);
      writeFileSync(journalPath, '');
      image.play(calls);
      compare(path, image.contents(), readFolder(path), calls.at(-1));
      return calls.at(-1)?.does === 'cut';
    },
    cutPower: () => restart(image.cutPower(random, counts, readFolder(path))),
    empty: () => restart(new Map()),
    counts,
    remove,
  };
}

function compile(libraryPath: string): void {
  if (process.platform !== 'linux') throw new Error('power cuts can only be played on Linux');
  const options = ['-O2', '-Wall', '-Wextra', '-Werror', '-fPIC', '-shared'];
  const { status, error, stderr } = spawnSync('cc', [
    ...options,
    '-o',
    libraryPath,
    source,
    '-ldl',
    '-lpthread',
  ]);
  if (error !== undefined)
    throw new Error(
      `power cuts need a C compiler, and \`cc\` cannot be run (${error.message}): install one, for example with \`apt-get install gcc libc6-dev\``,
    );
  if (status !== 0) throw new Error(`${source} cannot be compiled: ${stderr}`);
}

function readFolder(path: string): FolderContents {
  const contents = new Map<string, Buffer | null>();
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
    const itsPath = join(entry.parentPath, entry.name);
    contents.set(relative(path, itsPath), entry.isDirectory() ? null : readFileSync(itsPath));
  }
  return contents;
}

/** A process that was killed may have recorded its last call without making it. */
function compare(
  rootPath: string,
  played: FolderContents,
  found: FolderContents,
  last: DiskCall | undefined,
): void {
  const differing = [...new Set([...played.keys(), ...found.keys()])].filter(
    (path) => !isMapped(path) && !isSame(played.get(path), found.get(path)),
  );
  const excused = last === undefined || last.does === 'cut' ? [] : pathsOf(last);
  const wrong = differing.filter((path) => !excused.includes(join(rootPath, path)));
  const isExcused =
    last?.does === 'write' || last?.does === 'truncate' ? wrong.length <= 1 : wrong.length === 0;
  if (!isExcused)
    throw new Error(`these files were changed by a call that was not recorded: ${wrong.join(', ')}`);
}

function isSame(played: Buffer | null | undefined, found: Buffer | null | undefined): boolean {
  return played instanceof Buffer && found instanceof Buffer ? played.equals(found) : played === found;
}

function pathsOf(call: DiskCall): readonly string[] {
  if (call.does === 'rename') return [call.from, call.to];
  return 'path' in call ? [call.path] : [];
}
