import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHealth } from '../../../infra/local/health.ts';
import { openSqlite } from '../../../lib/base/sqlite.ts';
import { readVersion } from '../../../lib/host/version.ts';
import { createSqliteLedger } from '../../../lib/ledger/sqlite-ledger.ts';
import { readProjectFile } from '../../support/project-files.ts';
import { openWorld, type World } from '../../support/world.ts';

describe('GET /health', () => {
  let world: World;
  let url: string;
  beforeAll(async () => {
    world = await openWorld({ dialect: 'live' });
    url = new URL('/health', world.webhookUrl).href;
  });
  afterAll(() => world.close());

  test('reports the release and the store, and nothing else', async () => {
    const response = await fetch(url);

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual({ status: 'ok', version: readVersion(), store: 'readable' });
  });

  test('works with a query string, and for HEAD without a body', async () => {
    const [asked, head] = await Promise.all([fetch(`${url}?at=1`), fetch(url, { method: 'HEAD' })]);

    expect([asked.status, head.status, await head.text()]).toEqual([200, 200, '']);
  });

  test.each([
    ['POST', 'health'],
    ['GET', 'healthy'],
    ['GET', 'health/main'],
  ])('is all there is: %s /%s is not found', async (method, path) => {
    const response = await fetch(new URL(path, url), { method });

    expect(response.status).toBe(404);
  });
});

test('a store that cannot be read is reported with 503', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-health-'));
  const file = openSqlite(join(folder, 'relay.db'));
  const logHealth = createHealth(createSqliteLedger(file), '1.2.3');

  const before = await logHealth();
  file.close();
  const after = await logHealth();
  rmSync(folder, { recursive: true });

  expect(before.statusCode).toBe(200);
  expect(after.statusCode).toBe(503);
  expect(JSON.parse(after.body)).toEqual({ status: 'failing', version: '1.2.3', store: 'unreadable' });
});

test('the release is that of package.json', () => {
  expect(readVersion()).toBe((JSON.parse(readProjectFile('package.json')) as { version: string }).version);
});
