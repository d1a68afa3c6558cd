import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import type { PositionsDocument } from '../../dashboard/command-documents.ts';
import { parseConfig } from '../../lib/host/config.ts';
import config from '../../relay.config.example.ts';
import { openPageWorld, type PageWorld } from '../cli/dashboard/open-page.ts';
import { buyAlert } from '../support/alerts.ts';
import {
  desktop,
  findBarriers,
  launchBrowser,
  openWindow,
  phone,
  takePicture,
  waitForDrawn,
} from './open-browser.ts';

/** A relay on which something of everything has happened; all views look at it. */
let browser: Browser;
let relay: PageWorld;

const order = { ticker: 'BTCUSDT', action: 'buy', quantity: '0.002', strategy: 'breakout' };

beforeAll(async () => {
  browser = await launchBrowser();
  const { snapshots } = parseConfig({ ...config, snapshots: { balances: 'cron(* * * * ? *)' } });
  relay = await openPageWorld({ config, snapshots, followEveryMs: 200 });
  const { world } = relay;
  for (const price of ['50000', '50120', '49980', '50040', '50010']) world.setPrice('BTC_USDT', price);
  await world.post(JSON.stringify({ ...order, id: 'entry-1', stopLoss: '2%', takeProfit: '4%' }));
  await world.settled('entry-1');
  await world.post(JSON.stringify({ ...order, id: 'too-big', quantity: '5' }));
  await world.post(JSON.stringify({ ...order, id: 'misspelt', stoplos: '2%' }));
  await world.post(JSON.stringify({ ...order, id: 'rehearsed' }), { account: 'rehearsal' });
  await world.post(
    JSON.stringify({ ...order, id: 'rests', orderType: 'limit', limitPrice: '48500', ticker: 'BTCUSDT' }),
  );
  await world.settled('rests');
  world.setPrice('BTC_USDT', '50200');
  await world.post(
    JSON.stringify({ ticker: 'BTCUSDT', action: 'close', id: 'exit-half', quantityPercent: '50%' }),
  );
  await world.settled('exit-half');
  // Otherwise the fault below could strike an order of the relay's own.
  let acts = 1;
  // What does not fit yet has another act, which is waited for: the exchange would refuse to be asked again and again.
  do acts = 1 + (await world.settledBelow('entry-1:', acts)).length;
  while (!(await isProtected()));
});
/** Whether every stop-loss and take-profit fits the half that is left. */
async function isProtected(): Promise<boolean> {
  const { body } = await relay.get<PositionsDocument>('/api/positions?account=main');
  const guards = body.positions.flatMap(({ protection }) => protection?.guards ?? []);
  return guards.length > 0 && guards.every(({ state, amount }) => state === 'standing' && amount === '0.001');
}

/** The exchange never gets it. The relay needs five minutes to prove that, and the pictures less. */
async function loseResponse(id: string): Promise<void> {
  relay.world.paper.control.addFault({ fault: 'drop_before', endpoint: 'stop-limit' });
  const prices = { stopPrice: '51000', limitPrice: '51010', stopLoss: undefined, takeProfit: undefined };
  await relay.world.post(buyAlert({ id, quantity: '0.001', ...prices }));
  await relay.world.settled(id);
}

afterAll(async () => {
  await relay.close();
  await browser.close();
});

/** A view, and what stands in it once it is whole. */
const views: readonly (readonly [name: string, path: string, whole: (page: Page) => Promise<unknown>])[] = [
  [
    'signals',
    '/signals',
    (page) => page.getByText('entry-1').or(page.getByRole('listitem').nth(4)).first().waitFor(),
  ],
  ['signal', '/signals/main/entry-1', (page) => page.getByText('Each fill').waitFor()],
  ['unknown', '/signals/main/LOST', (page) => page.getByText('Look it up now').waitFor()],
  ['positions', '/positions', (page) => page.getByText('stop-loss at').first().waitFor()],
  ['orders', '/orders', (page) => page.getByText('Single orders').waitFor()],
  ['price', '/price', (page) => page.getByText('What happened, newest first').waitFor()],
  [
    'money',
    '/money',
    async (page) => {
      await page.getByText('Realised at average cost').waitFor();
      await page.getByText('The fills that the arrows mark').waitFor();
      // The arrow of a sale.
      await waitForDrawn(page, 'bad');
    },
  ],
  ['builder', '/builder', (page) => page.getByText('would be sent', { exact: true }).waitFor()],
  [
    'health',
    '/health',
    (page) =>
      page.getByText('What is allowed, used and left').or(page.getByText('Checks, as')).first().waitFor(),
  ],
];

describe.each([
  ['light', 'desktop', desktop],
  ['dark', 'desktop', desktop],
  ['light', 'phone', phone],
  ['dark', 'phone', phone],
] as const)('%s on a %s', (colorScheme, device, viewport) => {
  test('every view is whole, fits the screen and keeps nobody out', async () => {
    const lost = `lost-${colorScheme}-${device}`;
    await loseResponse(lost);
    const { page, faults, close } = await openWindow(browser, { colorScheme, viewport });
    await page.goto(relay.page.entryUrl);
    await page.getByRole('heading', { name: 'Signals' }).waitFor();
    const barriers: string[] = [];
    for (const [name, path, whole] of views) {
      await page.goto(`${relay.page.url}${path.replace('LOST', lost)}`);
      await whole(page);
      await takePicture(page, `${name}-${colorScheme}-${device}`);
      const found = await findBarriers(page);
      barriers.push(...found.map((barrier) => `${name}: ${barrier}`));
      const tooWide = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect([name, tooWide]).toEqual([name, 0]);
      const hidden = await page.evaluate(
        `(() => { const { left, right } = document.querySelector('nav [aria-current]').getBoundingClientRect();
          return Math.max(0, -left, right - innerWidth); })()`,
      );
      expect([name, hidden]).toEqual([name, 0]);
    }
    await close();

    expect(barriers).toEqual([]);
    expect(faults).toEqual([]);
  });
});
