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
  readonly faults: readonly string[];
  close(): Promise<void>;
}

export const desktop = { width: 1280, height: 900 };
export const phone = { width: 390, height: 844 };

export async function openWindow(browser: Browser, options: BrowserContextOptions = {}): Promise<Window> {
  const context = await browser.newContext({ viewport: desktop, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
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

/** What axe finds that keeps somebody from using the page: rule, and the elements. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}
