import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Deployment, deployRelay } from './deployment.ts';
import { waitUntil } from './wait-until.ts';

let deployment: Deployment;
beforeAll(async () => {
  deployment = await deployRelay({ runSchedules: false, tells: true });
  for (const account of ['main', 'second'])
    await deployment.relayJson(['keys', 'set', account], 'paper-key\npaper-secret\n');
});
afterAll(() => deployment?.close());

const shown = () => deployment.standIn.shown.ntfy.map(({ text }) => text).join('\n');

async function untilShown(wanted: RegExp): Promise<void> {
  await waitUntil(
    `a notice like ${wanted}`,
    async () => shown(),
    (text) => wanted.test(text),
    60_000,
  );
}

// The tests run in order: each one continues with the relay as the previous one left it.
test('doctor names a channel that nobody has set, and notify sets and tries it', async () => {
  const { stdout } = await deployment.relay(['doctor', '--json']);
  expect(JSON.parse(stdout).checks).toContainEqual(
    expect.objectContaining({
      name: 'notices: ntfy',
      verdict: 'fail',
      found: 'nobody has said how it is reached',
    }),
  );

  await deployment.relayJson(['notify', 'set', 'ntfy'], JSON.stringify(deployment.standIn.ways.ntfy));
  const tested = await deployment.relayJson(['notify', 'test']);

  expect(tested).toEqual({
    sent: true,
    tests: [
      { channel: 'ntfy', kind: 'sent' },
      { channel: 'email', kind: 'sent' },
    ],
  });
  expect(shown()).toContain('main · a test of the notices');
});

test('an alert that holds what opens a channel is refused', async () => {
  const accessToken = deployment.standIn.ways.ntfy?.['token'] ?? '';
  const comment = `see ${accessToken}`;
  const order = { id: 'n-0', ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', comment };
  const { exitCode, stderr } = await deployment.relay(['send', '-'], JSON.stringify(order));
  expect(exitCode).not.toBe(0);
  expect(stderr).toMatch(/contains a secret of the relay/);
  expect(stderr).not.toContain(accessToken);
});

test('the stream of the ledger tells of a pause, of a denied order and of its end', async () => {
  await deployment.relayJson(['pause', 'main', '--reason', 'a test']);
  await untilShown(/main · PAUSED: nothing is opened or enlarged[\s\S]*a test/);
  const order = { id: 'n-1', ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', stopPrice: '61000' };
  await deployment.relay(['send', '-'], JSON.stringify(order));
  await untilShown(/main · buy 0\.01 BTC_USDT: DENIED/);
  await deployment.relayJson(['resume', 'main']);
  await untilShown(/main · RESUMED/);
});

test('an alarm is told once, though the ledger reports its outcome as well', async () => {
  deployment.paper.control.addFault({ fault: 'drop_after', endpoint: 'stop-limit', count: 1 });
  const order = { id: 'n-2', ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', stopPrice: '61000' };
  await deployment.relay(['send', '-'], JSON.stringify(order));
  await untilShown(/main · ALARM: signal outcome unknown[\s\S]*n-2/);
  // What comes after it in the stream has been told, so what comes with it has been, too.
  await deployment.relayJson(['pause', 'second']);
  await untilShown(/second · PAUSED/);

  expect(shown().match(/signal outcome unknown|OUTCOME UNKNOWN/g)).toHaveLength(1);
});
