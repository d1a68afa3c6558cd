import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { Logger } from '@aws-lambda-powertools/logger';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LogFacts } from '../../lib/base/log.ts';
import { createLineLog } from '../../lib/host/line-log.ts';
import { createManualClock } from '../support/manual-clock.ts';

const noonMs = 1_767_268_800_000;

/** A stream that keeps each write, one text for all that was corked together. */
function openOutput(): { readonly stream: Writable; readonly writes: string[] } {
  const writes: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      writes.push(chunk);
      done();
    },
    writev(chunks: readonly { readonly chunk: string }[], done) {
      writes.push(chunks.map(({ chunk }) => chunk).join(''));
      done();
    },
  });
  return { stream, writes };
}

test('each event is one line of JSON with its facts beside the message', () => {
  const { stream, writes } = openOutput();
  const log = createLineLog('relay', stream, createManualClock(noonMs));

  log.warn('signal rejected', { account: 'main', orderId: 7, market: null });

  expect(writes).toEqual([
    '{"level":"WARN","message":"signal rejected","timestamp":"2026-01-01T12:00:00.000Z","service":"relay","sampling_rate":0,"account":"main","orderId":7}\n',
  ]);
});

test('lines of one turn are written together, and a warning writes them at once', async () => {
  const { stream, writes } = openOutput();
  const log = createLineLog('relay', stream);
  const messages = () =>
    writes.map((text) =>
      text
        .match(/"message":"\w+"/g)
        ?.map((match) => match.slice(11, -1))
        .join(' '),
    );

  log.info('one', {});
  log.info('two', {});
  expect(messages()).toEqual([]);
  log.warn('three', {});
  expect(messages()).toEqual(['one two three']);
  log.info('four', {});
  log.info('five', {});
  await Promise.resolve();
  await new Promise(setImmediate);

  expect(messages()).toEqual(['one two three', 'four five']);
});

test('lines of the last turn are written before the stream ends', async () => {
  const { stream, writes } = openOutput();
  const log = createLineLog('relay', stream);
  log.info('the last', {});
  stream.end();
  await once(stream, 'finish');
  expect(writes.join('')).toContain('"message":"the last"');
});

test('a fact cannot replace a field of the line', () => {
  const { stream, writes } = openOutput();
  createLineLog('relay', stream).error('true', { message: 'false', level: 'false', service: 'false' });
  expect(JSON.parse(writes.join(''))).toMatchObject({ message: 'true', level: 'ERROR', service: 'relay' });
});

/** The line that the logger for Lambda writes. */
function lineForLambda(level: 'info' | 'error', message: string, facts: LogFacts): string {
  const logger = new Logger({ serviceName: 'relay', logLevel: 'INFO' });
  const lines: string[] = [];
  logger['console'] = {
    info: (line: string) => lines.push(line),
    error: (line: string) => lines.push(line),
  } as never;
  logger[level](message, facts);
  return lines.join('');
}

const factNames = fc.stringMatching(/^[a-z][A-Za-z]{0,12}$/).filter((name) => !fieldsOfLine.has(name));
const fieldsOfLine = new Set(['level', 'message', 'timestamp', 'service']);

test('a line has the fields of the logger for Lambda, in the same order', () => {
  const fact = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.string()));
  const facts = fc.dictionary(factNames, fact, { noNullPrototype: true });
  const withoutTime = (line: string) => line.trimEnd().replace(/"timestamp":"[^"]+"/, '"timestamp":""');
  fc.assert(
    fc.property(
      fc.constantFrom('info' as const, 'error' as const),
      fc.string({ minLength: 1 }),
      facts,
      (level, message, given) => {
        const output = new PassThrough();
        const log = createLineLog('relay', output);
        log[level](message, given);
        log.error('end', {});
        const [line = ''] = String(output.read()).split('\n');
        expect(withoutTime(line)).toBe(withoutTime(lineForLambda(level, message, given)));
      },
    ),
  );
});
