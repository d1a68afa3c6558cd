import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import type { About } from '../../dashboard/documents.ts';
import config from '../../relay.config.example.ts';
import { openPageWorld, type PageWorld } from '../cli/dashboard/open-page.ts';
import { type StandIn, startStandIn } from '../notices/stand-in.ts';
import {
  desktop,
  findBarriers,
  launchBrowser,
  openWindow,
  phone,
  takePicture,
  type Window,
} from './open-browser.ts';

let browser: Browser;
let standIn: StandIn;
let relay: PageWorld;
let window: Window;
let page: Page;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

beforeEach(async () => {
  standIn = await startStandIn();
  const { ntfy = {}, webhook = {} } = standIn.ways;
  relay = await openPageWorld({
    config: { ...config, notices: { channels: ['ntfy', 'webhook', 'slack'], tell: { heartbeat: 'off' } } },
    ways: { ntfy, webhook },
  });
  // One of the two fails, whichever asks first.
  standIn.replies.push({ status: 500 });
  await relay.world.ledger.writePause('main', { sinceMs: Date.now(), reason: 'a test', kind: 'entries' });
  await relay.world.tell();
});
afterEach(async () => {
  await relay.close();
  await standIn.close();
});

async function open(options: Parameters<typeof openWindow>[1]): Promise<void> {
  window = await openWindow(browser, options);
  page = window.page;
}

async function enter(): Promise<void> {
  await page.goto(relay.page.entryUrl);
  await page.getByRole('heading', { name: 'Signals' }).waitFor();
}

/** @returns what keeps somebody out, what went wrong, and by how much the page is too wide */
async function judge(name: string) {
  await takePicture(page, name);
  const tooWide = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  const found = { barriers: await findBarriers(page), faults: [...window.faults], tooWide };
  await window.close();
  return found;
}

const fine = { barriers: [], faults: [], tooWide: 0 };

describe.each([
  ['desktop', desktop],
  ['phone', phone],
] as const)('on a %s', (device, viewport) => {
  test('the health shows how each channel fares', async () => {
    await open({ viewport });
    await enter();
    await page.getByRole('navigation').getByRole('link', { name: 'Health', exact: true }).focus();
    await page.keyboard.press('Enter');
    const channels = page.getByRole('table', { name: 'How each channel fares' });
    await channels.waitFor();

    const rows = await channels.getByRole('row').allInnerTexts();
    const has = (name: string, text: string) => rows.some((row) => row.includes(name) && row.includes(text));
    expect([has('slack', 'not set up'), has('slack', 'npx relay notify set slack')]).toEqual([true, true]);
    expect(rows.filter((row) => row.includes('it answered HTTP 500'))).toHaveLength(1);
    expect(rows.filter((row) => row.includes('tells'))).toHaveLength(1);
    expect(await judge(`notices-${device}`)).toEqual(fine);
  });

  test('live trading of which nobody is told is said above every view', async () => {
    await open({ viewport });
    await page.route('**/api/about', async (route) => {
      const response = await route.fetch();
      const about = (await response.json()) as About;
      await route.fulfill({ response, json: { ...about, untold: ['main', 'second'] } });
    });
    await enter();

    await page
      .getByRole('alert')
      .filter({ hasText: 'main, second trade live, and nobody is told of fills, refusals and alarms' })
      .waitFor();
    expect(await judge(`untold-${device}`)).toEqual(fine);
  });

  test('a signal shows its message as text, without secrets', async () => {
    const message = `{"ticker": "BTCUSDT", "action": "buy", "orderType": "market", "quantity": "5", "id": "told",
      "comment": "<img src=x onerror=alert(1)>", "passphrase": "hunter2hunter2"}`;
    await relay.world.post(message);
    await open({ viewport });
    await enter();
    await page.goto(`${relay.page.url}/signals/main/told`);
    await page.getByText('The message as it was received, without secrets').waitFor();

    const shown = await page.locator('main > pre').innerText();
    expect(shown).toBe(message.replace('"hunter2hunter2"', '(removed)'));
    expect(await judge(`message-${device}`)).toEqual(fine);
  });
});
