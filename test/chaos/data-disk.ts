import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The disk that holds the relay's data folder, small enough to be filled. */
export interface DataDisk {
  /** An empty folder on it. */
  readonly path: string;
  /** Why it cannot be filled; null when it can. */
  readonly obstacle: string | null;
  readonly isFull: boolean;
  /** When it was full, by the clock of this machine; the last span may still be open. */
  readonly fullSpans: readonly FullSpan[];
  /** Fills the disk completely; to be called repeatedly, because deleted files make room again. */
  fill(): void;
  free(): void;
  /** Removes it with all its files; a second call does nothing. */
  remove(): void;
}

/** Milliseconds since 1970. */
export interface FullSpan {
  readonly fromMs: number;
  /** Infinity: it is still full. */
  readonly untilMs: number;
}

const chunk = Buffer.alloc(64 * 1024);
const smallestChunkBytes = 512;

/** Mounts a file system in memory, or uses a plain folder if mounting is not allowed. */
export function openDataDisk(sizeBytes: number): DataDisk {
  const home = mkdtempSync(join(tmpdir(), 'relay-chaos-'));
  const mountPoint = join(home, 'disk');
  const path = join(mountPoint, 'data');
  const fillerPath = join(mountPoint, 'filler');
  mkdirSync(mountPoint);
  const obstacle = mount(mountPoint, sizeBytes);
  mkdirSync(path, { mode: 0o700 });
  let filler: number | null = null;
  let isRemoved = false;
  const fullSpans: { fromMs: number; untilMs: number }[] = [];

  function free(): void {
    if (filler === null) return;
    closeSync(filler);
    rmSync(fillerPath);
    filler = null;
    const span = fullSpans.at(-1);
    if (span !== undefined) span.untilMs = Date.now();
  }

  return {
    path,
    obstacle,
    fullSpans,
    get isFull() {
      return filler !== null;
    },
    fill() {
      if (obstacle !== null) return;
      if (filler === null) {
        filler = openSync(fillerPath, 'w');
        fullSpans.push({ fromMs: Date.now(), untilMs: Number.POSITIVE_INFINITY });
      }
      writeUntilFull(filler);
    },
    free,
    remove() {
      if (isRemoved) return;
      isRemoved = true;
      free();
      if (obstacle === null) unmount(mountPoint);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** @returns why it could not be mounted; null when it is */
function mount(mountPoint: string, sizeBytes: number): string | null {
  const options = `size=${sizeBytes},mode=0700`;
  const { status, stderr, error } = spawnSync('mount', [
    '-t',
    'tmpfs',
    '-o',
    options,
    'relay-chaos',
    mountPoint,
  ]);
  if (status === 0) return null;
  return error?.message ?? stderr.toString().trim();
}

/** Tries repeatedly, because a process that was just killed holds the disk for a moment longer. */
function unmount(mountPoint: string): void {
  for (let tries = 0; tries < 40; tries += 1) {
    if (spawnSync('umount', [mountPoint]).status === 0) return;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  }
  throw new Error(`${mountPoint} could not be unmounted; do it by hand: umount ${mountPoint}`);
}

function writeUntilFull(file: number): void {
  for (let bytes = chunk.length; bytes >= smallestChunkBytes; )
    try {
      writeSync(file, chunk, 0, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      bytes /= 2;
    }
}
