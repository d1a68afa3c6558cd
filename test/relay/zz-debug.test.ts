import { test } from '@jest/globals';
import { openKeptRelay } from '../support/kept-relay.ts';
test('debug', async () => {
  const relay = await openKeptRelay();
  const dump = async (title: string) => {
    const { entries } = await relay.services.ledger.list({ account: 'main', limit: 50 });
    const lines = entries.toReversed().map((e) => `${e.signalId} ${e.status} | ${e.steps.at(-1)?.note} | ${JSON.stringify(e.steps.at(-1)?.facts?.replaced)} done=${e.execution?.isFollowed} ${JSON.stringify(e.execution?.orders?.map((o) => [o.role, o.orderId, o.status, o.endReason]))}`);
    process.stdout.write(`${title}\n${lines.join('\n')}\n${(await relay.open()).join(' | ')}\n\n`);
  };
  await relay.say({ action: 'buy', orderType: 'market', quantity: '0.1', maxSlippage: '0.5%', stopLoss: '48000', takeProfit: '52000' });
  await relay.goOn(30);
  relay.setPrice('51000');
  await relay.say({ action: 'protect', stopLoss: 'entry' });
  await dump('said');
  for (let i = 0; i < 4; i += 1) { await relay.goOn(3); await dump(`after ${3 * (i + 1)}`); }
  await relay.goOn(30); await dump('later');
  await relay.close();
});
