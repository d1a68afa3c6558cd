import { expect, test } from '@jest/globals';
import { createRandom } from '../../lib/base/random.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { EventLoop } from './event-loop.ts';
import type { FaultPlan } from './faults.ts';
import { History } from './history.ts';
import { LambdaDeployment } from './lambda-deployment.ts';
import { openSimulatedWorld } from './open-world.ts';
import { startMs } from './simulate.ts';

const minuteMs = 60_000;

test('A close that comes a second after the reconciler and finds the exchange unreadable for 15 seconds is sent once it can be read', async () => {
  const loop = new EventLoop(startMs);
  const closesAtMs = startMs + minuteMs + 1_000;
  const faults: FaultPlan = {
    atStore: () => null,
    strikes: () => false,
    onWire: (path) =>
      path === openPositions.path.live && loop.nowMs >= closesAtMs && loop.nowMs < closesAtMs + 15_000
        ? 'error_before'
        : null,
  };
  const stage = { loop, random: createRandom(1), faults, history: new History(), doPositionsLag: false };
  const outages = { isExchangeDown: false, marketList: null, failingSteps: null };
  const world = openSimulatedWorld(stage, outages, 'live');
  const deployment = new LambdaDeployment(world);
  const send = (id: string, members: object) =>
    deployment.receive(
      {
        name: id,
        account: 'main',
        firesAfterMs: 0,
        isForged: false,
        body: JSON.stringify({ id, ticker: 'BTCUSDT', ...members }),
      },
      world.secrets.tokens.get('main')?.current ?? '',
    );
  deployment.start();
  loop.schedule(10_000, () => void send('entry', { action: 'buy', quantity: '0.002', orderType: 'market' }));
  loop.schedule(closesAtMs - startMs, () => void send('flat', { action: 'close' }));

  await loop.runUntil(closesAtMs + 30_000);

  const flat = await world.ledger.read({ account: 'main', signalId: 'flat' });
  world.file.close();
  expect(flat?.steps.map(({ status }) => status)).toEqual(['accepted', 'sending', 'placed']);
});
