import type { Random } from '../../../lib/base/random.ts';
import { between } from '../chance.ts';

/** The part of a write that a disk stores completely or not at all. */
const sectorBytes = 512;

export type FileChange = { readonly number: number } & (
  | { readonly does: 'write'; readonly offset: number; readonly data: Buffer }
  | { readonly does: 'truncate'; readonly size: number }
);

/** What became of the changes that were not flushed when the power was cut. */
export interface CutCounts {
  kept: number;
  dropped: number;
  /** Writes of which some sectors were stored, and others not. */
  torn: number;
  entriesKept: number;
  entriesDropped: number;
}

/** A file: what is on the disk for certain, and the changes that may get lost. */
export class DiskFile {
  readonly #durable: Contents;
  #pending: FileChange[] = [];

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.#durable = new Contents(bytes);
  }

  change(change: FileChange): void {
    this.#pending.push(change);
  }

  /** Makes the changes up to this number durable. */
  flush(covered: number): void {
    for (const change of this.#pending) if (change.number <= covered) this.#durable.apply(change);
    this.#pending = this.#pending.filter(({ number }) => number > covered);
  }

  /** The bytes that a process reads. */
  read(): Buffer {
    const contents = new Contents(this.#durable.bytes());
    for (const change of this.#pending) contents.apply(change);
    return contents.bytes();
  }

  /** The bytes after a power cut: each pending change is kept, dropped or torn, whatever became of the others. */
  survive(random: Random, keepChance: number, counts: CutCounts): Buffer {
    const contents = new Contents(this.#durable.bytes());
    for (const change of this.#pending) {
      const fate = drawFate(random, keepChance, change);
      counts[fate] += 1;
      if (fate === 'kept') contents.apply(change);
      else if (fate === 'torn' && change.does === 'write') contents.tear(change, () => random() < 0.5);
    }
    return contents.bytes();
  }
}

function drawFate(random: Random, keepChance: number, change: FileChange): 'kept' | 'dropped' | 'torn' {
  if (random() < keepChance) return 'kept';
  return change.does === 'write' && change.data.length > sectorBytes && random() < 0.3 ? 'torn' : 'dropped';
}

/** Bytes that grow without being copied at each write. */
class Contents {
  #room: Buffer;
  #size: number;

  constructor(bytes: Buffer) {
    this.#room = Buffer.from(bytes);
    this.#size = bytes.length;
  }

  bytes(): Buffer {
    return this.#room.subarray(0, this.#size);
  }

  apply(change: FileChange): void {
    if (change.does === 'truncate') this.#resize(change.size);
    else {
      this.#resize(Math.max(this.#size, change.offset + change.data.length));
      change.data.copy(this.#room, change.offset);
    }
  }

  /** The file gets its new size, and those sectors that `isKept` chooses. */
  tear({ offset, data }: { readonly offset: number; readonly data: Buffer }, isKept: () => boolean): void {
    this.#resize(Math.max(this.#size, offset + data.length));
    for (let at = 0; at < data.length; ) {
      const end = Math.min(data.length, at + sectorBytes - ((offset + at) % sectorBytes));
      if (isKept()) data.copy(this.#room, offset + at, at, end);
      at = end;
    }
  }

  #resize(size: number): void {
    if (size > this.#room.length) {
      const room = Buffer.alloc(2 * size);
      this.#room.copy(room, 0, 0, this.#size);
      this.#room = room;
    }
    // What lies behind the end of a file is zeros when it grows again.
    this.#room.fill(0, Math.min(size, this.#size), Math.max(size, this.#size));
    this.#size = size;
  }
}

const pageBytes = 4096;

/** A file that SQLite maps into memory: the system writes its pages to the disk at any time, or never. */
export function spoilMappedFile(bytes: Buffer, random: Random): Buffer {
  const spoilt = Buffer.from(bytes);
  for (let at = 0; at < spoilt.length; at += pageBytes) {
    const page = spoilt.subarray(at, at + pageBytes);
    const chance = random();
    if (chance < 0.3) page.fill(0);
    else if (chance < 0.6)
      for (let byte = 0; byte < page.length; byte += 1) page[byte] = between(random, 0, 256);
  }
  return spoilt;
}
