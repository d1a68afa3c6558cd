import { basename, dirname, join, relative } from 'node:path';
import type { Random } from '../../../lib/base/random.ts';
import { pick } from '../chance.ts';
import { type CutCounts, DiskFile, spoilMappedFile } from './disk-file.ts';
import type { DiskCall } from './disk-journal.ts';

type DiskNode = DiskFile | DiskFolder;

/** One step that changes names in folders: all of it reaches the disk, or none. */
interface EntryChange {
  readonly name: string;
  /** Null: the name is removed. */
  readonly node: DiskNode | null;
}

/** A folder: the names that are on the disk for certain, and the changes that may get lost. */
class DiskFolder {
  readonly live = new Map<string, DiskNode>();
  readonly #durable = new Map<string, DiskNode>();
  #pending: { readonly number: number; readonly changes: readonly EntryChange[] }[] = [];

  change(number: number, changes: readonly EntryChange[]): void {
    this.#pending.push({ number, changes });
    apply(this.live, changes);
  }

  flush(covered: number): void {
    for (const { number, changes } of this.#pending) if (number <= covered) apply(this.#durable, changes);
    this.#pending = this.#pending.filter(({ number }) => number > covered);
  }

  /** The names after a power cut. */
  survive(random: Random, keepChance: number, counts: CutCounts): ReadonlyMap<string, DiskNode> {
    const names = new Map(this.#durable);
    for (const { changes } of this.#pending) {
      const isKept = random() < keepChance;
      counts[isKept ? 'entriesKept' : 'entriesDropped'] += 1;
      if (isKept) apply(names, changes);
    }
    return names;
  }
}

function apply(names: Map<string, DiskNode>, changes: readonly EntryChange[]): void {
  for (const { name, node } of changes)
    if (node === null) names.delete(name);
    else names.set(name, node);
}

/** What a folder holds: the paths below it, with the bytes of files and null for folders. */
export type FolderContents = ReadonlyMap<string, Buffer | null>;

/** SQLite maps these files into memory, so writes to them are no calls. */
export const isMapped = (path: string): boolean => path.endsWith('-shm');

/** How likely a change that was not flushed survives. It differs from cut to cut: often nothing survives. */
const keepChances = [0, 0, 0.3, 0.7] as const;

/**
 * The files below one folder as a disk has them: what was flushed, and what was not yet.
 *
 * A file's bytes are safe once the file is flushed; its name is safe once its folder is flushed.
 */
export class DiskImage {
  readonly #rootPath: string;
  readonly #root = new DiskFolder();
  /** The open files of the running process. */
  readonly #open = new Map<number, DiskNode>();
  #lastNumber = 0;

  /** @param contents what is on the disk for certain */
  constructor(rootPath: string, contents: FolderContents) {
    this.#rootPath = rootPath;
    const folders = [this.#root];
    for (const [path, bytes] of contents) {
      const node = bytes === null ? new DiskFolder() : new DiskFile(bytes);
      if (node instanceof DiskFolder) folders.push(node);
      this.#folderOf(join(rootPath, path)).change(0, [{ name: basename(path), node }]);
    }
    for (const folder of folders) folder.flush(0);
  }

  get lastNumber(): number {
    return this.#lastNumber;
  }

  /** @throws Error when a call does not fit the files as they are */
  play(calls: readonly DiskCall[]): void {
    for (const call of calls) {
      this.#playOne(call);
      this.#lastNumber = call.number;
    }
  }

  /** The files as the process saw them. */
  contents(): FolderContents {
    const found = new Map<string, Buffer | null>();
    walk(
      this.#root,
      '',
      ({ live }) => live,
      (path, node) => found.set(path, node instanceof DiskFile ? node.read() : null),
    );
    return found;
  }

  /**
   * The files after a power cut at this moment.
   *
   * @param mapped the bytes of mapped files, which only the folder itself has
   */
  cutPower(random: Random, counts: CutCounts, mapped: FolderContents): FolderContents {
    const keepChance = pick(random, keepChances);
    const found = new Map<string, Buffer | null>();
    walk(
      this.#root,
      '',
      (folder) => folder.survive(random, keepChance, counts),
      (path, node) => {
        if (node instanceof DiskFolder) found.set(path, null);
        else if (isMapped(path))
          found.set(path, spoilMappedFile(mapped.get(path) ?? Buffer.alloc(0), random));
        else found.set(path, node.survive(random, keepChance, counts));
      },
    );
    return found;
  }

  #playOne(call: DiskCall): void {
    const { number } = call;
    switch (call.does) {
      case 'start':
        this.#open.clear();
        break;
      case 'cut':
        break;
      case 'create':
        this.#name(number, call.path, new DiskFile());
        break;
      case 'make_folder':
        this.#name(number, call.path, new DiskFolder());
        break;
      case 'remove':
        this.#name(number, call.path, null);
        break;
      case 'rename':
        this.#rename(number, call.from, call.to);
        break;
      case 'open':
        this.#open.set(call.file, this.#find(call.path));
        break;
      case 'flush':
        this.#opened(call.file).flush(call.covered);
        break;
      case 'write':
      case 'truncate':
        this.#changeFile(call);
    }
  }

  #changeFile(call: Extract<DiskCall, { does: 'write' | 'truncate' }>): void {
    const file = this.#opened(call.file);
    if (!(file instanceof DiskFile)) throw new Error('a process wrote to a folder');
    file.change(call);
  }

  #rename(number: number, from: string, to: string): void {
    if (dirname(from) !== dirname(to))
      throw new Error(`${from} was moved to another folder, which is not played`);
    this.#folderOf(from).change(number, [
      { name: basename(from), node: null },
      { name: basename(to), node: this.#find(from) },
    ]);
  }

  #name(number: number, path: string, node: DiskNode | null): void {
    this.#folderOf(path).change(number, [{ name: basename(path), node }]);
  }

  #opened(file: number): DiskNode {
    const node = this.#open.get(file);
    if (node === undefined) throw new Error(`a process used file ${file}, and never opened it`);
    return node;
  }

  #folderOf(path: string): DiskFolder {
    const node = this.#find(dirname(path));
    if (node instanceof DiskFolder) return node;
    throw new Error(`${dirname(path)} is not a folder`);
  }

  #find(path: string): DiskNode {
    let node: DiskNode = this.#root;
    for (const name of relative(this.#rootPath, path)
      .split('/')
      .filter((part) => part !== '')) {
      const next: DiskNode | undefined = node instanceof DiskFolder ? node.live.get(name) : undefined;
      if (next === undefined) throw new Error(`${path} was used, and the image does not have it`);
      node = next;
    }
    return node;
  }
}

function walk(
  folder: DiskFolder,
  path: string,
  namesOf: (folder: DiskFolder) => ReadonlyMap<string, DiskNode>,
  see: (path: string, node: DiskNode) => void,
): void {
  for (const [name, node] of namesOf(folder)) {
    const itsPath = join(path, name);
    see(itsPath, node);
    if (node instanceof DiskFolder) walk(node, itsPath, namesOf, see);
  }
}
