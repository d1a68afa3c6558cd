import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import type { PageServer } from '../../cli/dashboard/page-server.ts';
import { startDashboard } from '../../cli/dashboard/start-dashboard.ts';
import { createProgram } from '../../cli/program.ts';
import { openLocalSession } from '../../cli/session/local-session.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { createDataFolder, writeRun } from '../../lib/host/data-folder.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { testConfig } from '../support/world.ts';
import { launchBrowser, openWindow } from './open-browser.ts';

const count = 100_000;
const startMs = 1_795_168_800_000;

let browser: Browser;
let server: PageServer;
let close: () => Promise<void>;

/** The folder of a relay that is not running, with this many refused alerts in its ledger. */
beforeAll(async () => {
  const folder = createDataFolder(mkdtempSync(join(tmpdir(), 'relay-many-')));
  writeRun(folder, { relayUrl: 'http://127.0.0.1:1', exchangeUrl: 'http://127.0.0.1:1', dialect: 'live' });
  const file = openSqlite(folder.databasePath);
  const ledger = createSqliteLedger(file);
  for (let from = 0; from < count; from += 5_000)
    await Promise.all(Array.from({ length: 5_000 }, (_, index) => refuse(from + index)));
  function refuse(number: number): Promise<void> {
    const step = {
      status: 'invalid',
      atMs: startMs + number * 1000,
      note: `the alert was refused: quantity: "${number}" is no number`,
      evidence: { ticker: 'BTCUSDT' },
    } as const;
    const fingerprint = String(number).padStart(64, '0');
    return ledger.refuse({ account: 'main', signalId: `refused-${number}`, fingerprint, step });
  }
  file.close();
  const session = openLocalSession(folder.path, parseConfig(testConfig));
  server = await startDashboard({ session, createProgram, port: 0, isReadOnly: true });
  browser = await launchBrowser();
  close = async () => {
    await browser.close();
    await server.close();
    session.close();
    rmSync(folder.path, { recursive: true });
  };
});
afterAll(() => close());

test('a list of 100,000 signals makes only the rows near the screen, and reads on as it is scrolled', async () => {
  const { page, faults } = await openWindow(browser);
  await page.goto(server.entryUrl);
  const rows = page.getByRole('listitem');
  await rows.first().waitFor();
  await page.reload();
  await rows.first().waitFor();
  // When the first row was painted, since the address was opened: told, not judged, because machines differ.
  const firstRowMs = await page.evaluate('Math.round(performance.now())');

  const perStep: number[] = [];
  for (let step = 0; step < 40; step += 1) {
    perStep.push(await rows.count());
    await page.mouse.wheel(0, 2_000);
    // A turn of the screen: the list is made anew before it.
    const frameMs =
      'new Promise((resolve) => { const from = performance.now(); requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - from))); })';
    perStep.push(Number(await page.evaluate(frameMs)));
  }
  const texts = await rows.allTextContents();
  const counts = perStep.filter((_, index) => index % 2 === 0);
  const frames = perStep.filter((_, index) => index % 2 === 1).toSorted((a, b) => a - b);
  process.stderr.write(
    `first row after ${firstRowMs} ms; two frames of scrolling: median ${frames[20]?.toFixed(0)} ms, most ${frames.at(-1)?.toFixed(0)} ms\n`,
  );

  expect(Math.max(...counts)).toBeLessThan(120);
  expect(await page.evaluate('document.documentElement.scrollHeight')).toBeGreaterThan(40 * 1_000);
  expect(texts.length).toBeGreaterThan(20);
  expect(faults).toEqual([]);
  expect(new Set(texts).size).toBe(texts.length);
});
