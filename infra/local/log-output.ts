import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs';
import { Writable } from 'node:stream';
import { styleText } from 'node:util';

type Colour = Parameters<typeof styleText>[0];
const colours: Readonly<Record<string, Colour>> = { INFO: 'dim', WARN: 'yellow', ERROR: 'red' };

/** Together with the file before it, this is all the room the log takes; strangers can make it grow. */
const maximumFileBytes = 10 * 1024 * 1024;

/**
 * Keeps every log line in a file, and shows it to whoever watches in a shape for people.
 *
 * A log that cannot be written must not stop what it tells of: lines that find no room are dropped.
 *
 * @param terminal null when nobody watches
 */
export function createLogOutput(logPath: string, terminal: NodeJS.WritableStream | null): Writable {
  const file = createLogFile(logPath);
  // The reader of a pipe may leave at any time.
  terminal?.on('error', () => undefined);
  return new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      if (terminal !== null)
        for (const line of chunk.split('\n'))
          if (line !== '' && !isRoutine(line)) terminal.write(`${describeLine(line)}\n`);
      file.write(chunk);
      done();
    },
    final(done) {
      file.end(done);
    },
  });
}

interface LogFile {
  write(text: string): void;
  end(done: () => void): void;
}

/** Begins a new file when the old one is full, and keeps that one beside it as `….1`. */
function createLogFile(path: string): LogFile {
  let sizeBytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  let stream = open();

  function open(): WriteStream {
    return createWriteStream(path, { flags: 'a', mode: 0o600 }).on('error', () => undefined);
  }

  return {
    write(text) {
      sizeBytes += Buffer.byteLength(text);
      if (sizeBytes > maximumFileBytes) {
        stream.end();
        renameSync(path, `${path}.1`);
        stream = open();
        sizeBytes = Buffer.byteLength(text);
      }
      if (!stream.destroyed) {
        stream.write(text);
        return;
      }
      // The disk was full; it may have room again. What it cut off must not swallow this line.
      stream = open();
      stream.write(`\n${text}`);
    },
    end(done) {
      if (stream.destroyed) done();
      // What could not be written is not the end of what writes it.
      else stream.end(() => done());
    },
  };
}

/** That a run of the clock went well is for the file: once a minute it would bury what somebody watches for. */
function isRoutine(line: string): boolean {
  return line.includes('"message":"scheduled run done"');
}

/** `08:31:45.120  signal placed  main h-1f… BTC_USDT  buy 0.01 …` */
export function describeLine(line: string): string {
  const fields: unknown = JSON.parse(line);
  const text = (name: string): string => {
    const value = (fields as Record<string, unknown>)[name];
    return typeof value === 'string' ? value : '';
  };
  const time = text('timestamp').slice(11, 23);
  const level = text('level');
  const subject = ['schedule', 'account', 'signalId', 'market', 'group']
    .map(text)
    .filter((word) => word !== '');
  const detail = ['code', 'note', 'reason'].map(text).filter((word) => word !== '');
  return [
    styleText('dim', time),
    styleText(colours[level] ?? 'reset', text('message')),
    subject.join(' '),
    detail.join(': '),
  ]
    .filter((part) => part !== '')
    .join('  ');
}
