import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CommandFailure } from '../failure.ts';
import { isSystemError, type SystemError } from '../system-error.ts';

type Texts = AsyncIterable<string> | Iterable<string>;

/**
 * Writes texts to a stream, such as standard output, at the speed of its reader, or to a file. The file is
 * created or replaced only when it is complete.
 *
 * @param target a stream, or the path of a file
 * @throws CommandFailure `not_written`; what reading the texts throws
 */
export async function writeOutput(texts: Texts, target: Writable | string): Promise<void> {
  if (typeof target !== 'string') return await writeStream(texts, target);
  const unfinished = `${target}.part`;
  try {
    await pour(texts, createWriteStream(unfinished), true);
    await rename(unfinished, target);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw isOfWriting(error) ? createNotWritten(target, error) : error;
  }
}

async function writeStream(texts: Texts, stream: Writable): Promise<void> {
  try {
    await pour(texts, stream, false);
  } catch (error) {
    // A reader that stops early (`… | head`) is not an error.
    if (!isOfWriting(error) || error.code !== 'EPIPE') throw error;
  }
}

async function pour(texts: Texts, target: Writable, end: boolean): Promise<void> {
  await pipeline(Readable.from(gather(texts), { highWaterMark: 1 }), target, { end });
}

/** In characters. Lines are gathered, because one write for each line would take longer than producing it. */
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

/** Errors while reading the texts may have codes too, but do not come from a system call. */
function isOfWriting(error: unknown): error is SystemError {
  return isSystemError(error) && 'syscall' in error;
}

function createNotWritten(path: string, error: SystemError): CommandFailure {
  return new CommandFailure(
    'not_written',
    `"${path}" cannot be written: ${error.message}`,
    'Name a file in an existing folder that is writable and has free space.',
  );
}
