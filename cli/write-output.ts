import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CommandFailure } from './failure.ts';

type Texts = AsyncIterable<string> | Iterable<string>;

/**
 * Writes texts one after another as the reader takes them: to standard output, or to a file that appears, or replaces
 * what was there, once it is whole.
 *
 * @param path null: standard output
 * @throws CommandFailure `not_written`; what reading the texts throws
 */
export async function writeOutput(texts: Texts, path: string | null): Promise<void> {
  if (path === null) return await writeStandardOutput(texts);
  const unfinished = `${path}.part`;
  try {
    await pour(texts, createWriteStream(unfinished), true);
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw isSystemError(error) ? createNotWritten(path, error) : error;
  }
}

async function writeStandardOutput(texts: Texts): Promise<void> {
  try {
    await pour(texts, process.stdout, false);
  } catch (error) {
    // A reader that has seen enough (`… | head`) is no fault.
    if (!isSystemError(error) || error.code !== 'EPIPE') throw error;
  }
}

async function pour(texts: Texts, target: Writable, end: boolean): Promise<void> {
  await pipeline(Readable.from(gather(texts), { highWaterMark: 1 }), target, { end });
}

/** In characters: a write for every line would take longer than making it. */
const gatheredLength = 65_536;

async function* gather(texts: Texts): AsyncGenerator<string> {
  let gathered = '';
  for await (const text of texts) {
    gathered += text;
    if (gathered.length < gatheredLength) continue;
    yield gathered;
    gathered = '';
  }
  if (gathered !== '') yield gathered;
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

function createNotWritten(path: string, error: NodeJS.ErrnoException): CommandFailure {
  return new CommandFailure(
    'not_written',
    `"${path}" cannot be written: ${error.message}`,
    'Name a file in a folder that exists, that you may write to, and that has room.',
  );
}
