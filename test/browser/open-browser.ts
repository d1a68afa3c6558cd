import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { projectRoot } from '../support/project-files.ts';

export const browserPath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** A name that points to this machine, as in an attack by DNS rebinding. */
export const foreignName = 'rebound.example';

export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath: browserPath,
    // A container has no sandbox of its own to give.
    args: ['--no-sandbox', `--host-resolver-rules=MAP ${foreignName} 127.0.0.1`],
  });
}

/** One window, and everything in it that must not happen. */
export interface Window {
  readonly page: Page;
  /** Errors of the console, of scripts and of the policy, and requests that left for another host. */
  readonly faults: string[];
  close(): Promise<void>;
}

export const desktop = { width: 1280, height: 900 };
export const phone = { width: 390, height: 844 };

export async function openWindow(browser: Browser, options: BrowserContextOptions = {}): Promise<Window> {
  const context = await browser.newContext({ viewport: desktop, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    const isTold = message.type() === 'error' || message.type() === 'warning';
    // How Chromium would draw the chart faster is no fault of the page.
    if (isTold && !message.text().startsWith('Canvas2D: ')) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol !== 'data:' && protocol !== 'blob:' && hostname !== '127.0.0.1') faults.push(request.url());
  });
  // As text: nothing of this project has the types of a browser but the page itself.
  await page.addInitScript({
    content: `addEventListener('securitypolicyviolation', (event) => {
      console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample);
    });`,
  });
  return { page, faults, close: () => context.close() };
}

const folder = join(projectRoot, 'screenshots');

/** Keeps a picture where a person looks at it; git does not. */
export async function takePicture(page: Page, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** Waits until something in this colour of the style sheet is drawn in a chart: only its pixels say so. @throws when nothing is */
export async function waitForDrawn(page: Page, colour: string): Promise<void> {
  // Playwright's own way to wait needs `eval`, which the page forbids.
  await page.evaluate(`(async () => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue('--${colour}').trim();
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    const isDrawn = (canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return data.some((_, at) => at % 4 === 0 && data[at] === red && data[at + 1] === green && data[at + 2] === blue);
    };
    for (let look = 0; look < 50; look += 1) {
      if (Array.from(document.querySelectorAll('.chart canvas')).some(isDrawn)) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('nothing is drawn in the colour ${colour}');
  })()`);
}

/** What axe finds that keeps somebody from using the page: rule, and the elements. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}
