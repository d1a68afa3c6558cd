import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { SignalMessage, SignalQueue } from '../../lib/queue/queue.ts';

/** One delivery of a message, until it is removed or released. */
export interface Delivery {
  readonly receipt: string;
  readonly group: string;
  readonly body: string;
  /** 1 at the first delivery. */
  readonly receiveCount: number;
}

/** The consuming end of a queue. */
export interface QueueSource {
  /** Delivers the oldest messages of one group that no worker holds, in order; empty when there is none. */
  receive(maxMessages: number): Promise<readonly Delivery[]>;
  /** Deletes handled messages from the queue. */
  remove(receipts: readonly string[]): Promise<void>;
  /** Puts messages back in their places; after too many deliveries they become dead letters instead. */
  release(receipts: readonly string[]): Promise<void>;
}

/** Both ends of a queue. */
export interface QueueEnds {
  readonly queue: SignalQueue;
  readonly source: QueueSource;
}

/** An empty queue whose messages may be delivered {@link maxReceives} times. */
export interface QueueFixture extends QueueEnds {
  /** Lets the pause pass after which released messages are delivered again. */
  rest(): Promise<void>;
  /** The bodies of the dead letters, in any order. */
  deadLetterBodies(): Promise<readonly string[]>;
  /** The queue as the next process finds it after a crash. */
  reopen(): Promise<QueueEnds>;
  close(): Promise<void>;
}

export const maxReceives = 3;

export function message(signalId: string, market = 'BTC_USDT', account = 'main'): SignalMessage {
  return { account, signalId, market };
}

export function idsOf(deliveries: readonly Delivery[]): readonly string[] {
  return deliveries.map(({ body }) => (JSON.parse(body) as SignalMessage).signalId);
}

export function receiptsOf(deliveries: readonly Delivery[]): readonly string[] {
  return deliveries.map(({ receipt }) => receipt);
}

/** Receives everything that can be delivered now, without acknowledging it. */
async function receiveAll(source: QueueSource, maxMessages = 10): Promise<readonly Delivery[]> {
  const all: Delivery[] = [];
  for (;;) {
    const deliveries = await source.receive(maxMessages);
    if (deliveries.length === 0) return all;
    all.push(...deliveries);
  }
}

/** Receives and acknowledges every message. */
async function drain(source: QueueSource, maxMessages = 10): Promise<readonly Delivery[]> {
  const all: Delivery[] = [];
  for (;;) {
    const deliveries = await source.receive(maxMessages);
    if (deliveries.length === 0) return all;
    all.push(...deliveries);
    await source.remove(receiptsOf(deliveries));
  }
}

/** The contract of every queue, whatever service implements it. */
export function describeQueue(name: string, openFixture: () => Promise<QueueFixture>): void {
  let fixture: QueueFixture;
  let queue: SignalQueue;
  let source: QueueSource;

  beforeEach(async () => {
    fixture = await openFixture();
    ({ queue, source } = fixture);
  });
  afterEach(() => fixture.close());

  async function enqueueAll(...messages: readonly SignalMessage[]): Promise<void> {
    for (const each of messages) await queue.enqueue(each);
  }

  describe(name, () => {
    test('delivers nothing when it is empty', async () => {
      expect(await source.receive(10)).toEqual([]);
    });

    test('delivers a message complete, with its group, for the first time', async () => {
      await queue.enqueue(message('tv-1', 'BTC_PERP', 'second'));
      expect(await source.receive(10)).toMatchObject([
        {
          body: '{"account":"second","signalId":"tv-1","market":"BTC_PERP"}',
          group: 'second.BTC_PERP',
          receiveCount: 1,
        },
      ]);
    });

    test.each([1, 3, 10])('keeps the order within a group, in deliveries of %i', async (maxMessages) => {
      const ids = Array.from({ length: 12 }, (_, i) => `s-${i}`);
      await enqueueAll(...ids.map((id) => message(id)));
      expect(idsOf(await drain(source, maxMessages))).toEqual(ids);
    });

    test('keeps the order of each group when groups are mixed', async () => {
      await enqueueAll(
        message('b1', 'BTC_USDT'),
        message('e1', 'ETH_USDT'),
        message('b2', 'BTC_USDT'),
        message('e2', 'ETH_USDT'),
        message('b3', 'BTC_USDT'),
      );
      const ids = idsOf(await drain(source, 2));
      expect(ids.filter((id) => id.startsWith('b'))).toEqual(['b1', 'b2', 'b3']);
      expect(ids.filter((id) => id.startsWith('e'))).toEqual(['e1', 'e2']);
    });

    test('delivers nothing more of a group until the messages in flight are removed or released', async () => {
      await enqueueAll(message('a'), message('b'));
      const [first, ...rest] = await source.receive(1);
      expect(rest).toEqual([]);
      expect(await receiveAll(source)).toEqual([]);
      await source.remove(receiptsOf(first === undefined ? [] : [first]));
      expect(idsOf(await source.receive(1))).toEqual(['b']);
    });

    test('delivers nothing more of a group while one of several messages is still in flight', async () => {
      await enqueueAll(message('a'), message('b'), message('c'), message('d'));
      const inFlight = await source.receive(3);
      await source.remove(receiptsOf(inFlight.slice(0, 2)));
      expect(await receiveAll(source)).toEqual([]);
      await source.remove(receiptsOf(inFlight.slice(2)));
      expect(idsOf(await source.receive(3))).toEqual(['d']);
    });

    test('delivers other groups meanwhile: other markets, and other accounts in the same market', async () => {
      await enqueueAll(
        message('a'),
        message('b'),
        message('c', 'ETH_USDT'),
        message('d', 'BTC_USDT', 'second'),
      );
      const inFlight = await receiveAll(source, 1);
      expect([...idsOf(inFlight)].sort()).toEqual(['a', 'c', 'd']);
    });

    test('does not deliver removed messages again', async () => {
      await enqueueAll(message('a'));
      await drain(source);
      await fixture.rest();
      expect(await source.receive(10)).toEqual([]);
    });

    test('delivers released messages again, in their old order and with their count', async () => {
      await enqueueAll(message('a'), message('b'), message('c'));
      const first = await source.receive(10);
      await source.remove(receiptsOf(first.slice(0, 1)));
      await source.release(receiptsOf(first.slice(1)));
      await queue.enqueue(message('d'));
      await fixture.rest();

      const again = await drain(source);

      expect(idsOf(again)).toEqual(['b', 'c', 'd']);
      expect(again.map(({ receiveCount }) => receiveCount)).toEqual([2, 2, 1]);
    });

    test('makes a message that was delivered too often a dead letter, and its group continues', async () => {
      await enqueueAll(message('poison'), message('next'));
      for (let count = 1; count <= maxReceives; count += 1) {
        const deliveries = await source.receive(1);
        expect(idsOf(deliveries)).toEqual(['poison']);
        expect(deliveries[0]?.receiveCount).toBe(count);
        await source.release(receiptsOf(deliveries));
        await fixture.rest();
      }
      expect(idsOf(await source.receive(1))).toEqual(['next']);
      expect(await fixture.deadLetterBodies()).toEqual([
        '{"account":"main","signalId":"poison","market":"BTC_USDT"}',
      ]);
      const next = await fixture.reopen();
      expect(idsOf(await drain(next.source))).toEqual(['next']);
    });

    test('does not duplicate a message that still waits', async () => {
      await enqueueAll(message('a'), message('b'), message('a'));
      expect(idsOf(await drain(source))).toEqual(['a', 'b']);
    });

    test('does not duplicate a message that comes ten times at once', async () => {
      await Promise.all(Array.from({ length: 10 }, () => queue.enqueue(message('a'))));
      expect(idsOf(await drain(source))).toEqual(['a']);
    });

    test('does not duplicate a message that is in flight', async () => {
      await enqueueAll(message('a'));
      const deliveries = await source.receive(1);
      await enqueueAll(message('a'));
      await source.remove(receiptsOf(deliveries));
      await fixture.rest();
      expect(await source.receive(10)).toEqual([]);
    });

    test('keeps the same signal id of two accounts apart', async () => {
      await enqueueAll(message('a', 'BTC_USDT', 'main'), message('a', 'BTC_USDT', 'second'));
      const groups = (await drain(source)).map(({ group }) => group);
      expect([...groups].sort()).toEqual(['main.BTC_USDT', 'second.BTC_USDT']);
    });

    test('loses nothing in a crash: messages that were not acknowledged are delivered again, in order', async () => {
      await enqueueAll(message('done'), message('in-flight'), message('waiting'));
      await source.remove(receiptsOf(await source.receive(1)));
      await source.receive(1);

      const next = await fixture.reopen();

      expect(idsOf(await drain(next.source))).toEqual(['in-flight', 'waiting']);
    });
  });
}
