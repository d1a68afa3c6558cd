import { createWriteStream } from 'node:fs';
import { Writable } from 'node:stream';
import { styleText } from 'node:util';

type Colour = Parameters<typeof styleText>[0];
const colours: Readonly<Record<string, Colour>> = { INFO: 'dim', WARN: 'yellow', ERROR: 'red' };

/**
 * Keeps every log line in a file, and shows it to whoever watches in a shape for people.
 *
 * @param terminal null when nobody watches
 */
export function createLogOutput(logPath: string, terminal: NodeJS.WritableStream | null): Writable {
  const file = createWriteStream(logPath, { flags: 'a', mode: 0o600 });
  return new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      if (terminal !== null)
        for (const line of chunk.split('\n')) if (line !== '') terminal.write(`${describeLine(line)}\n`);
      file.write(chunk, done);
    },
    final(done) {
      file.end(done);
    },
  });
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
  const subject = ['account', 'signalId', 'market'].map(text).filter((word) => word !== '');
  const detail = text('note') || text('code') || text('reason');
  return [
    styleText('dim', time),
    styleText(colours[level] ?? 'reset', text('message')),
    subject.join(' '),
    detail,
  ]
    .filter((part) => part !== '')
    .join('  ');
}
