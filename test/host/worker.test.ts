import { describe, expect, test } from '@jest/globals';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { RelayError } from '../../lib/base/errors.ts';
import { createWorker } from '../../lib/host/worker.ts';
import type { SignalMessage } from '../../lib/queue/queue.ts';

const silence = () => undefined;
const log = { info: silence, warn: silence, error: silence };

function eventOf(
  ...messages: readonly (readonly [id: string, group: string, receiveCount?: number])[]
): SQSEvent {
  return {
    Records: messages.map(
      ([messageId, group, receiveCount = 1]) =>
        ({
          messageId,
          receiptHandle: `receipt of ${messageId}`,
          body: JSON.stringify({ account: 'main', signalId: messageId, market: 'BTC_USDT' }),
          attributes: { MessageGroupId: group, ApproximateReceiveCount: String(receiveCount) },
        }) as unknown as SQSRecord,
    ),
  };
}

/** Sets no pause. */
const notAtAll = async () => undefined;

describe('the worker behind a FIFO queue', () => {
  test('handles a group strictly in order, one message after the other', async () => {
    const seen: string[] = [];
    const worker = createWorker(
      log,
      async ({ signalId }) => {
        seen.push(`${signalId} begins`);
        await new Promise(setImmediate);
        seen.push(`${signalId} ends`);
      },
      notAtAll,
    );

    await worker(eventOf(['1', 'a'], ['2', 'a']));

    expect(seen).toEqual(['1 begins', '1 ends', '2 begins', '2 ends']);
  });

  test('handles groups concurrently: a group may wait for another one', async () => {
    let open = silence as () => void;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const worker = createWorker(
      log,
      async ({ signalId }) => (signalId === 'waits' ? await opened : open()),
      notAtAll,
    );

    expect(await worker(eventOf(['waits', 'a'], ['opens', 'b']))).toEqual({ batchItemFailures: [] });
  });

  test('has a signal that waits delivered again soon, and keeps those behind it from overtaking it', async () => {
    const handled: string[] = [];
    const pauses: (readonly [receipt: string, pauseMs: number])[] = [];
    const worker = createWorker(
      log,
      async ({ signalId }) => {
        handled.push(signalId);
        throw new RelayError('position_awaited', 'waits');
      },
      async (...pause) => void pauses.push(pause),
    );

    const response = await worker(eventOf(['1', 'a', 3], ['2', 'a']));

    expect(response).toEqual({ batchItemFailures: [{ itemIdentifier: '1' }, { itemIdentifier: '2' }] });
    expect(handled).toEqual(['1']);
    expect(pauses).toEqual([
      ['receipt of 1', 15_000],
      ['receipt of 2', 15_000],
    ]);
  });

  test('leaves a signal that still waits at its fourth delivery to the reconciler, and goes on behind it', async () => {
    const handled: string[] = [];
    const worker = createWorker(
      log,
      async ({ signalId }) => {
        handled.push(signalId);
        if (signalId === '1') throw new RelayError('position_awaited', 'waits');
      },
      notAtAll,
    );

    expect(await worker(eventOf(['1', 'a', 4], ['2', 'a']))).toEqual({ batchItemFailures: [] });
    expect(handled).toEqual(['1', '2']);
  });

  test('reports the rest of a group as unhandled after a failure, and nothing of other groups', async () => {
    const handled: string[] = [];
    const worker = createWorker(
      log,
      async ({ signalId }) => {
        if (signalId === '2') throw new Error('poisoned');
        handled.push(signalId);
      },
      notAtAll,
    );

    const response = await worker(eventOf(['1', 'a'], ['2', 'a'], ['3', 'a'], ['4', 'b']));

    expect(handled.sort()).toEqual(['1', '4']);
    expect(response).toEqual({ batchItemFailures: [{ itemIdentifier: '2' }, { itemIdentifier: '3' }] });
  });

  test('has the failed message and those behind it delivered again soon, later with every failure', async () => {
    const pauses: (readonly [receipt: string, pauseMs: number])[] = [];
    const fail = async ({ signalId }: SignalMessage) => {
      if (signalId !== 'good') throw new Error('poisoned');
    };
    const worker = createWorker(log, fail, async (...pause) => void pauses.push(pause));

    await worker(eventOf(['good', 'a', 4], ['1', 'a', 1], ['2', 'a', 3], ['3', 'b', 4], ['good', 'c']));

    expect(pauses).toEqual([
      ['receipt of 1', 5_000],
      ['receipt of 2', 5_000],
      ['receipt of 3', 20_000],
    ]);
  });

  test('reports a failed message as unhandled even if its redelivery cannot be scheduled', async () => {
    const fail = async () => {
      throw new Error('away');
    };
    const worker = createWorker(log, fail, fail);

    expect(await worker(eventOf(['1', 'a']))).toEqual({ batchItemFailures: [{ itemIdentifier: '1' }] });
  });
});

test('a message tells the worker whether its signal met a cold start when it was received', async () => {
  const seen: (readonly [string, boolean])[] = [];
  const worker = createWorker(
    log,
    async ({ signalId }, metColdStart) => void seen.push([signalId, metColdStart]),
    notAtAll,
  );
  const { Records } = eventOf(['cold', 'a'], ['warm', 'b']);
  const metColdStart = { dataType: 'String', stringValue: 'true' };
  const [cold, warm] = Records.map((record, index) => ({
    ...record,
    messageAttributes: index === 0 ? { metColdStart } : {},
  })) as [SQSRecord, SQSRecord];

  await worker({ Records: [cold, warm] });

  expect(seen).toEqual([
    ['cold', true],
    ['warm', false],
  ]);
});
