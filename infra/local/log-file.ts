import { closeSync, constants, fstatSync, openSync, readSync, renameSync, writeSync } from 'node:fs';

/** Never waits: a pipe that somebody put in the file's place must not hold the relay up. */
const openFlags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
const newline = 0x0a;

/**
 * Appends whole lines to a log file that others may move, cut short or remove at any time.
 *
 * The file is opened for each call, some microseconds: what its name stands for is then never a guess. A full one is
 * kept beside it as `….1`, in the place of the one before.
 *
 * @param text ends with a newline
 * @param maximumFileBytes the file grows no further; one text alone may be larger
 * @throws the operating system's error; a part of the text may then stand in the file
 */
export function appendToLogFile(path: string, text: string, maximumFileBytes: number): void {
  const bytes = Buffer.from(text);
  const isRoom = withFile(path, (file) => {
    const { size } = fstatSync(file);
    if (size > 0 && size + bytes.byteLength > maximumFileBytes) return false;
    // What a full disk cut off must not swallow this line.
    if (isCutOff(file, size)) writeSync(file, '\n');
    writeWhole(file, bytes);
    return true;
  });
  if (isRoom) return;
  renameSync(path, `${path}.1`);
  withFile(path, (file) => writeWhole(file, bytes));
}

function withFile<T>(path: string, use: (file: number) => T): T {
  const file = openSync(path, openFlags, 0o600);
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}

function isCutOff(file: number, sizeBytes: number): boolean {
  if (sizeBytes === 0) return false;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, sizeBytes - 1);
  return last[0] !== newline;
}

/** On a disk with little room, a write may end before the text does. */
function writeWhole(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.byteLength; ) written += writeSync(file, bytes, written);
}
