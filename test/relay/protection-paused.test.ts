import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { noonMs } from '../support/aftermath.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** A pause of everything stops what protects positions, too. */
let relay: KeptRelay;
const pauseOf = (kind: 'everything' | 'entries', reason = 'news') =>
  ({ sinceMs: noonMs, reason, kind }) as const;
const pause = (value: ReturnType<typeof pauseOf> | null) => relay.services.ledger.writePause('main', value);

beforeEach(async () => {
  relay = await openKeptRelay();
  await relay.say({
    action: 'buy',
    orderType: 'market',
    quantity: '0.1',
    maxSlippage: '0.5%',
    stopLoss: '48000',
    takeProfits: [
      { price: '51000', share: '50%' },
      { price: '52000', share: '50%' },
    ],
  });
  await relay.goOn(30);
});
afterEach(() => relay.close());

const oversized = 'sell 0.1 stop 48000';

test('A stop-loss that a pause leaves too large is one alarm, and is replaced at the first reading after it', async () => {
  await pause(pauseOf('everything'));
  relay.fill('51000', '0.05');
  await relay.goOn(600);
  expect([await relay.held(), await relay.open()]).toEqual([
    '0.05',
    ['sell 0.05 at 52000, reduces', oversized],
  ]);
  expect([relay.alarmNames(), await relay.failuresTold()]).toEqual([['protection_failed'], []]);

  await pause(null);
  await relay.goOn(3);
  expect(await relay.open()).toEqual(['sell 0.05 at 52000, reduces', 'sell 0.05 stop 48000, reduces']);
});

test('A pause of entries that takes its place lets the next reading replace it', async () => {
  await pause(pauseOf('everything'));
  relay.fill('51000', '0.05');
  await relay.goOn(600);

  await pause(pauseOf('entries'));
  await relay.goOn(3);
  expect(await relay.open()).toEqual(['sell 0.05 at 52000, reduces', 'sell 0.05 stop 48000, reduces']);
});

test('What fits during a pause is no alarm', async () => {
  await pause(pauseOf('everything'));
  await relay.goOn(600);

  expect(relay.alarmNames()).toEqual([]);
});
