import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CommandFailure } from './failure.ts';
import { isSystemError, type SystemError } from './system-error.ts';

type Texts = AsyncIterable<string> | Iterable<string>;

/**
 * Writes texts one after another as the reader takes them: to a stream, such as standard output, or to a file that appears,
 * or replaces what was there, once it is whole.
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
    // A reader that has seen enough (`… | head`) is no fault.
    if (!isOfWriting(error) || error.code !== 'EPIPE') throw error;
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

/** Failures of what is read have codes, too, but come from no call of the system. */
function isOfWriting(error: unknown): error is SystemError {
  return isSystemError(error) && 'syscall' in error;
}

function createNotWritten(path: string, error: SystemError): CommandFailure {
  return new CommandFailure(
    'not_written',
    `"${path}" cannot be written: ${error.message}`,
    'Name a file in a folder that exists, that you may write to, and that has room.',
  );
}
