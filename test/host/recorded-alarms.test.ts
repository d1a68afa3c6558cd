import { expect, test } from '@jest/globals';
import type { DynamodbClient } from '../../lib/base/dynamodb.ts';
import { afterAlarms, recordAlarms, settling } from '../../lib/host/recorded-alarms.ts';
import { createListeningLog } from '../support/listening-log.ts';
import { createManualClock } from '../support/manual-clock.ts';

const alarm = { name: 'unknown_word', message: 'a word' } as const;

function open(record: () => Promise<void>) {
  const { log, lines } = createListeningLog();
  const logged: string[] = [];
  const clock = createManualClock(0, { jumps: false });
  const alarms = recordAlarms({ raise: ({ message }) => void logged.push(message) }, record, { clock, log });
  return { alarms, logged, lines, clock };
}

/** A store that writes down what it is asked, and answers at once. */
function createStore() {
  const asked: string[] = [];
  const client: DynamodbClient = {
    async call(operation) {
      asked.push(operation);
      return {} as never;
    },
  };
  return { asked, client };
}

test('a write waits for the alarms that were raised before it; a reading does not', async () => {
  const stored = Promise.withResolvers<void>();
  const { alarms, logged } = open(() => stored.promise);
  const { asked, client } = createStore();
  const ordered = afterAlarms(client, alarms);

  alarms.raise(alarm, {});
  const write = ordered.call('PutItem', { TableName: 't', Item: {} });
  await ordered.call('Query', { TableName: 't', KeyConditionExpression: '' });
  expect([asked, logged]).toEqual([['Query'], ['a word']]);
  stored.resolve();
  await write;
  expect(asked).toEqual(['Query', 'PutItem']);
});

test('a write waits two seconds at most', async () => {
  const { alarms, clock } = open(() => new Promise(() => undefined));
  const { asked, client } = createStore();
  alarms.raise(alarm, {});
  const write = afterAlarms(client, alarms).call('UpdateItem', {
    TableName: 't',
    Key: {},
    UpdateExpression: '',
  });
  await clock.whenAsleep();
  clock.advance(2_000);
  await write;
  expect(asked).toEqual(['UpdateItem']);
});

test('an alarm that cannot be stored is logged all the same, and stops nothing', async () => {
  const { alarms, logged, lines } = open(() => Promise.reject(new TypeError('a secret')));
  alarms.raise(alarm, {});
  await alarms.settle();

  expect(logged).toEqual(['a word']);
  expect(lines).toMatchObject([{ level: 'error', facts: { reason: 'unexpected TypeError' } }]);
});

test('a function ends only when its alarms are stored, also when it fails', async () => {
  const stored = Promise.withResolvers<void>();
  const { alarms } = open(() => stored.promise);
  let hasEnded = false;
  const run = settling(alarms, async () => {
    alarms.raise(alarm, {});
    throw new Error('broken');
  })().finally(() => {
    hasEnded = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(hasEnded).toBe(false);
  stored.resolve();
  await expect(run).rejects.toThrow('broken');
});
