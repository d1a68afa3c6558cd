import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { openPageWorld, type PageWorld } from '../cli/dashboard/open-page.ts';
import { foreignName, launchBrowser, openWindow, type Window } from './open-browser.ts';

let browser: Browser;
let relay: PageWorld;
let window: Window;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

beforeEach(async () => {
  relay = await openPageWorld();
  window = await openWindow(browser);
});
afterEach(async () => {
  await window.close();
  await relay.close();
});

/** Logs in, as the owner has, in the browser that then meets the attack. */
async function enter(): Promise<void> {
  await window.page.goto(relay.page.entryUrl);
  await window.page.getByRole('heading', { name: 'Signals' }).waitFor();
}

/** A page of somebody else on this machine. */
async function serveForeign(html: string): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(html);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

describe('a browser', () => {
  test('gets nothing without the token', async () => {
    const { page } = window;

    await page.goto(relay.page.url);

    await page.getByText('the page has no session with this relay').waitFor();
    expect(await page.evaluate("fetch('/api/signals').then(({ status }) => status)")).toBe(401);
    expect(
      await page.evaluate("fetch('/api/pause', { method: 'POST', body: '{}' }).then(({ status }) => status)"),
    ).toBe(401);
  });

  test('gets nothing with the token of another start', async () => {
    const { page } = window;

    await page.goto(`${relay.page.url}/#token=${'x'.repeat(43)}`);

    await page.getByText('this is not the token of the running relay').waitFor();
  });

  test('gets nothing under a name that was pointed to this machine', async () => {
    await enter();
    const { port } = new URL(relay.page.url);

    const response = await window.page.goto(`http://${foreignName}:${port}/`);

    expect(response?.status()).toBe(421);
    const paths = ['/api/about', '/page.js'];
    for (const path of paths)
      expect(await window.page.evaluate(`fetch('${path}').then(({ status }) => status)`)).toBe(421);
    expect(await relay.world.ledger.readPause('main')).toBeNull();
  });

  test('lets no other page use the session that it holds', async () => {
    await enter();
    const { url } = relay.page;
    const { url: foreignUrl, server } = await serveForeign(
      '<title>foreign</title><form method="post"></form>',
    );
    const { page } = window;
    await page.goto(foreignUrl);

    const posted = await page.evaluate(
      `fetch('${url}/api/pause', { method: 'POST', credentials: 'include', mode: 'no-cors', body: '{}' }).then(({ type }) => type, () => 'refused')`,
    );
    const read = await page.evaluate(
      `fetch('${url}/api/signals', { credentials: 'include' }).then(() => 'read', () => 'refused')`,
    );
    const script = await page.evaluate(
      `new Promise((resolve) => { const tag = document.createElement('script'); tag.src = '${url}/page.js'; tag.onload = () => resolve('loaded'); tag.onerror = () => resolve('refused'); document.head.append(tag); })`,
    );
    await page.evaluate(`document.forms[0].action = '${url}/api/pause', document.forms[0].submit()`);
    await page.getByText('the request comes from another site').waitFor();
    server.close();

    expect(['opaque', 'refused']).toContain(posted);
    expect([read, script]).toEqual(['refused', 'refused']);
    expect(await relay.world.ledger.readPause('main')).toBeNull();
  });

  test('shows the page in no frame', async () => {
    await enter();
    const { url: foreignUrl, server } = await serveForeign(`<iframe src="${relay.page.url}"></iframe>`);

    await window.page.goto(foreignUrl);
    await window.page.waitForLoadState('load');
    server.close();

    const texts = await Promise.all(
      window.page
        .frames()
        .slice(1)
        .map((frame) => frame.locator('#page').count()),
    );
    expect(texts.every((count) => count === 0)).toBe(true);
  });
});
