import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { HealthDocument } from '../../../dashboard/documents.ts';
import { type StandIn, startStandIn } from '../../notices/stand-in.ts';
import { buyAlert } from '../../support/alerts.ts';
import { testConfig } from '../../support/world.ts';
import { openPageWorld, type PageWorld } from './open-page.ts';

let standIn: StandIn;
let relay: PageWorld;
beforeEach(async () => {
  standIn = await startStandIn();
  relay = await openPageWorld({
    config: { ...testConfig, notices: { channels: ['slack', 'webhook'], tell: { heartbeat: 'off' } } },
    ways: { webhook: standIn.ways.webhook ?? {} },
  });
});
afterEach(async () => {
  await relay.close();
  await standIn.close();
});

const noticesOf = async () => (await relay.get<HealthDocument>('/api/health')).body.notices;

test('the health says how each channel fares, and what waits for it', async () => {
  standIn.replies.push({ status: 500 });
  await relay.world.ledger.writePause('main', { sinceMs: 1_000, reason: 'a test', kind: 'entries' });
  await relay.world.tell();

  expect(await noticesOf()).toEqual({
    toldBesides: null,
    channels: [
      {
        name: 'slack',
        isReached: false,
        sentAtMs: null,
        waiting: 1,
        failures: 1,
        failure: 'nobody has said how slack is reached: `npx relay notify set slack` asks for it',
        retryAtMs: expect.any(Number),
      },
      {
        name: 'webhook',
        isReached: true,
        sentAtMs: null,
        waiting: 1,
        failures: 1,
        failure: 'it answered HTTP 500',
        retryAtMs: expect.any(Number),
      },
    ],
  });
});

test('nothing of it is what opens a channel', async () => {
  await relay.world.ledger.writePause('main', { sinceMs: 1_000, reason: 'a test', kind: 'entries' });
  await relay.world.tell();

  const { text } = await relay.get('/api/health');
  const { body } = await relay.get<HealthDocument>('/api/health');

  expect(body.notices.channels[1]).toMatchObject({ waiting: 0, failures: 0, retryAtMs: null });
  expect(text).not.toContain(standIn.ways.webhook?.['key']);
});

test('a signal has its message, without secrets', async () => {
  const message = buyAlert({ id: 'told', comment: 'a note' });
  await relay.world.post(message.replace('"a note"', '"a note", "passphrase": "hunter2hunter2"'));

  const { body } = await relay.get('/api/signal?account=main&id=told');

  expect(body).toMatchObject({
    message: { text: message.replace('"a note"', '"a note", "passphrase": (removed)'), omittedBytes: 0 },
  });
});
