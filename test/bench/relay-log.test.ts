import { describe, expect, test } from '@jest/globals';
import { createRelayLog } from './relay-log.ts';

const lineOf = (message: string, facts: object = {}) => JSON.stringify({ level: 'INFO', message, ...facts });

describe('the log of a relay under measurement', () => {
  test('says when a signal has the status that is waited for', async () => {
    const log = createRelayLog();
    const placed = log.waitFor('order-1', 'placed');

    log.hear(lineOf('signal accepted', { signalId: 'order-1' }));
    log.hear(lineOf('signal placed', { signalId: 'order-1' }));

    await expect(placed).resolves.toBeUndefined();
  });

  test.each([
    ['a scheduled run that is done', lineOf('scheduled run done', { schedule: 'reconcile-signals' })],
    ['a scheduled run that failed', lineOf('scheduled run failed', { reason: 'the disk is full' })],
    ['a signal that nobody waits for', lineOf('signal denied', { signalId: 'other' })],
    ['a line that is not JSON', '(node:1) Warning: something is experimental'],
    ['a line that is JSON, and no object', 'null'],
    ['an empty line', ''],
  ])('may hold %s between two signals', async (_, line) => {
    const log = createRelayLog();
    const placed = log.waitFor('order-1', 'placed');

    log.hear(line);
    log.hear(lineOf('signal placed', { signalId: 'order-1' }));

    await expect(placed).resolves.toBeUndefined();
    expect([...log.asides.values()]).toEqual([1]);
  });

  test('rejects a signal with another outcome, and no other signal', async () => {
    const log = createRelayLog();
    const denied = log.waitFor('order-1', 'placed');
    const placed = log.waitFor('order-2', 'placed');

    log.hear(lineOf('signal denied', { signalId: 'order-1' }));
    log.hear(lineOf('signal placed', { signalId: 'order-2' }));

    await expect(denied).rejects.toThrow('signal order-1 should be placed, and the log says: {');
    await expect(placed).resolves.toBeUndefined();
  });

  test('rejects a signal of which it says nothing in time', async () => {
    const log = createRelayLog(1);

    await expect(log.waitFor('order-1', 'placed')).rejects.toThrow('no outcome of signal order-1');
  });
});
