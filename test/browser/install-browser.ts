import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import openRun from '../support/open-run.ts';
import { browserPath } from './open-browser.ts';

const run = promisify(execFile);

/** Before any test: Debian's Chromium, where it is missing and may be installed. */
export default async function installBrowser(): Promise<void> {
  if (!existsSync(browserPath)) {
    await run('apt-get', ['update', '-q']);
    await run('apt-get', ['install', '-qy', '--no-install-recommends', 'chromium'], { maxBuffer: 2 ** 26 });
  }
  await openRun();
}
