import { beforeAll, describe, expect, test } from '@jest/globals';
import { buildPage } from '../../../cli/dashboard/page-files.ts';
import type { Asset } from '../../../cli/dashboard/page-server.ts';

describe('the files of the page', () => {
  let files: ReadonlyMap<string, Asset>;
  beforeAll(async () => {
    files = await buildPage();
  });

  const sizeOf = (name: string) => Buffer.byteLength(files.get(name)?.body ?? '');

  test('stay small, and leave the charts out until they are looked at', () => {
    const parts = [...files.keys()].filter((name) => name.startsWith('/part-'));

    expect(sizeOf('/page.js')).toBeLessThan(90_000);
    expect(sizeOf('/style.css')).toBeLessThan(12_000);
    expect(parts.reduce((sum, name) => sum + sizeOf(name), 0)).toBeLessThan(190_000);
    expect(String(files.get('/page.js')?.body)).not.toContain('lightweight-charts');
  });

  test('name no other machine but in links that a person follows', () => {
    const text = [...files.values()].map(({ body }) => String(body)).join('\n');
    const hosts = new Set(Array.from(text.matchAll(/https?:\/\/([\w.-]+)/g), ([, host]) => host));

    expect([...hosts].toSorted()).toEqual(['www.tradingview.com', 'www.w3.org']);
  });

  test('hold no code that a strict policy would stop', () => {
    const scripts = [...files].filter(([name]) => name.endsWith('.js')).map(([, { body }]) => String(body));

    expect(scripts.filter((text) => /\beval\(|new Function\(/.test(text))).toEqual([]);
  });
});
