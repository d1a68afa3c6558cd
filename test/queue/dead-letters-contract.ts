import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DeadLetters } from '../../lib/queue/dead-letters.ts';
import { idsOf, maxReceives, message, type QueueFixture, receiptsOf } from './queue-contract.ts';

/** A queue whose messages may be delivered three times, and its dead letters. */
export interface DeadLettersFixture extends QueueFixture {
  readonly deadLetters: DeadLetters;
}

/** The contract of the dead letters of every queue. */
export function describeDeadLetters(name: string, openFixture: () => Promise<DeadLettersFixture>): void {
  let fixture: DeadLettersFixture;

  /** Enqueues a message and fails it until it is a dead letter; nothing else must be waiting. */
  async function bury(signalId: string): Promise<void> {
    await fixture.queue.enqueue(message(signalId));
    for (let failure = 0; failure < maxReceives; failure += 1) {
      await fixture.source.release(receiptsOf(await fixture.source.receive(1)));
      await fixture.rest();
    }
    // SQS moves a message to the dead-letter queue only when it would be delivered once more.
    expect(await fixture.source.receive(1)).toEqual([]);
  }

  async function drain(): Promise<readonly string[]> {
    const ids: string[] = [];
    for (;;) {
      const deliveries = await fixture.source.receive(1);
      if (deliveries.length === 0) return ids;
      ids.push(...idsOf(deliveries));
      await fixture.source.remove(receiptsOf(deliveries));
    }
  }

  describe(`the dead letters of ${name}`, () => {
    beforeEach(async () => {
      fixture = await openFixture();
    });
    afterEach(() => fixture.close());

    test('are none at first', async () => {
      expect(await fixture.deadLetters.redrive()).toEqual([]);
    });

    test('go back in their order, each to its group, behind what waits there', async () => {
      await bury('first');
      await bury('second');
      await fixture.queue.enqueue(message('third'));

      const redriven = await fixture.deadLetters.redrive();

      expect(redriven.map(({ group }) => group)).toEqual(['main.BTC_USDT', 'main.BTC_USDT']);
      expect(redriven.map(({ body }) => JSON.parse(body).signalId)).toEqual(['first', 'second']);
      expect(await drain()).toEqual(['third', 'first', 'second']);
      expect(await fixture.deadLetterBodies()).toEqual([]);
    });

    test('can be delivered as often as new messages', async () => {
      await bury('a');
      await fixture.deadLetters.redrive();

      const first = await fixture.source.receive(1);
      await fixture.source.release(receiptsOf(first));
      await fixture.rest();
      const second = await fixture.source.receive(1);

      expect([...first, ...second].map(({ receiveCount }) => receiveCount)).toEqual([1, 2]);
    });

    test('can go back only once', async () => {
      await bury('a');

      expect(await fixture.deadLetters.redrive()).toHaveLength(1);
      expect(await fixture.deadLetters.redrive()).toEqual([]);
      expect(await drain()).toEqual(['a']);
    });
  });
}
