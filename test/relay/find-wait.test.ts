import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { findWait } from '../../lib/relay/execute/explain-wait.ts';
import { type Aftermath, noonMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';

let relay: Aftermath;
beforeEach(async () => {
  relay = await openAftermath('live');
});
afterEach(() => relay.close());

async function waitOf(signalId: string) {
  return await findWait(relay.services, await relay.entry(signalId));
}

const close = (id: string) => JSON.stringify({ id, ticker: 'BTCUSDT', action: 'close', maxSlippage: '1%' });

test('A stored signal waits for its turn', async () => {
  await relay.receive(buyAlert());

  const untilMs = noonMs + relay.services.settings.defaultMaxLagMs;
  expect(await waitOf('buy-1')).toEqual({ sinceMs: noonMs, untilMs, reason: 'its turn' });
});

test('A signal waits for the earlier ones of its market', async () => {
  await relay.receive(buyAlert());
  await relay.receive(close('flat'));

  expect(await waitOf('flat')).toMatchObject({ reason: 'signal "buy-1" of its market comes first' });
});

test.each([
  ['close', {}, '; 10 seconds after that was stored, it goes on without it'],
  ['flat', {}, '; 10 seconds after that was stored, it goes on without it'],
  ['close', { quantity: '50%' }, ': settle that one with npx relay resolve'],
  ['close', { keepEntries: true }, ': settle that one with npx relay resolve'],
])('A %s %j waits for the outcome of an order that is not known', async (action, members, then) => {
  await relay.send(buyAlert(), { fault: 'drop_after', endpoint: 'stop-limit' });
  await relay.receive(JSON.stringify({ ...JSON.parse(close('flat')), action, ...members }));

  expect((await waitOf('flat'))?.reason).toBe(
    `the outcome of signal "buy-1", which is not known (unknown)${then}`,
  );
});

test('A cancellation of a market waits for the order before it in its alert, while that is being sent', async () => {
  const order = JSON.parse(buyAlert());
  const cancel = { id: 'all', ticker: 'BTCUSDT', action: 'cancel_all', scope: 'market' };
  await relay.receiveAll(JSON.stringify([order, cancel]));
  const step = { status: 'sending', atMs: noonMs, note: '' } as const;
  await relay.services.ledger.start({ account: 'main', signalId: 'buy-1' }, step, null);

  expect((await waitOf('all'))?.reason).toBe('signal "buy-1" before it in its alert, which is being sent');
});

test('The log has the reason and the end of the wait when it begins', async () => {
  await relay.send(buyAlert(), { fault: 'drop_after', endpoint: 'stop-limit' });
  const key = await relay.receive(close('flat'));
  const lines: unknown[] = [];
  const note = (_: string, facts: unknown) => void lines.push(facts);

  await expect(
    executeSignal({ ...relay.services, log: { info: note, warn: note, error: note } }, key),
  ).rejects.toMatchObject({ code: 'position_awaited' });

  expect(lines).toContainEqual({
    account: 'main',
    signalId: 'flat',
    reason: expect.stringContaining('buy-1'),
    untilMs: (await waitOf('flat'))?.untilMs,
  });
});

test('A signal that was sent waits for nothing', async () => {
  await relay.send(buyAlert());

  expect(await waitOf('buy-1')).toBeNull();
});
