import { closeSync, constants, fstatSync, openSync, readSync, renameSync, writeSync } from 'node:fs';

/** Non-blocking: if the file was replaced by a pipe, opening it must not block the relay. */
const openFlags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
const newline = 0x0a;

/**
 * Appends whole lines to a log file that other programs may move, truncate or remove at any time.
 *
 * The file is opened for each call, which takes a few microseconds, so that a moved or removed file is
 * noticed. A full file is renamed to `….1` and replaces the previous one of that name.
 *
 * @param text ends with a newline
 * @param maximumFileBytes largest size of the file; a single text may exceed it
 * @throws the operating system's error; the file may then contain a part of the text
 * @see DECISIONS 82
 */
export function appendToLogFile(path: string, text: string, maximumFileBytes: number): void {
  const bytes = Buffer.from(text);
  const isRoom = withFile(path, (file) => {
    const { size } = fstatSync(file);
    if (size > 0 && size + bytes.byteLength > maximumFileBytes) return false;
    // After a full disk, the last line may be incomplete: this line must not be joined to it.
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

/** On a nearly full disk, a write may store only a part of the text. */
function writeWhole(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.byteLength; ) written += writeSync(file, bytes, written);
}
