import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot, readProjectFile } from '../support/project-files.ts';
import { infraConfig } from './synthesized.ts';

const folder = mkdtempSync(join(tmpdir(), 'relay-app-'));
afterAll(() => rmSync(folder, { recursive: true }));

const { context } = JSON.parse(readProjectFile('cdk.json')) as { context: Record<string, unknown> };

/** Runs the CDK app as the CDK does, without credentials. @returns the text it wrote to standard error */
async function runApp(outdir: string, options: Record<string, string>): Promise<string> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    CDK_OUTDIR: outdir,
    CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...options }),
  };
  const { stderr } = await promisify(execFile)(process.execPath, ['infra/aws/app.ts'], {
    cwd: projectRoot,
    env,
  });
  return stderr;
}

describe('The app, with a given stage and configuration,', () => {
  const outdir = join(folder, 'out');
  beforeAll(async () => {
    const path = join(folder, 'other.config.mjs');
    const config = { ...infraConfig, exchange: { address: 'https://exchange.example', dialect: 'live' } };
    writeFileSync(path, `export default ${JSON.stringify(config)};`);
    await runApp(outdir, { stage: 'try-out', config: path });
  });

  test('synthesizes the stack of that stage', () => {
    expect(existsSync(join(outdir, 'trading-relay-try-out.template.json'))).toBe(true);
  });

  test.each([
    // Kilobytes of 1000 bytes.
    ['receive-signal', 249_000],
    ['execute-signal', 390_000],
    ['reconcile-signals', 320_000],
    ['snapshot-balances', 150_500],
    ['snapshot-fees', 150_500],
    ['import-interest', 153_000],
    ['send-notices', 200_000],
  ])('bundles %s with that configuration into one file of at most %i bytes', (name, maximumBytes) => {
    const bundle = readFileSync(join(outdir, 'functions', name, 'index.js'));

    expect(bundle.byteLength).toBeLessThanOrEqual(maximumBytes);
    expect(bundle.includes('https://exchange.example')).toBe(true);
    expect(bundle.includes('node:sqlite')).toBe(false);
  });
});

describe('The app, with a paper stage and a configuration that trades for real,', () => {
  const outdir = join(folder, 'paper');
  let said: string;
  beforeAll(async () => {
    const path = join(folder, 'live.config.mjs');
    const config = { ...infraConfig, exchange: { address: 'https://exchange.example', dialect: 'live' } };
    writeFileSync(path, `export default ${JSON.stringify(config)};`);
    said = await runApp(outdir, { stage: 'paper', config: path });
  });

  test.each(['execute-signal', 'reconcile-signals', 'snapshot-balances', 'snapshot-fees', 'import-interest'])(
    'bundles %s without the address of that exchange, and with no account in mode live',
    (name) => {
      const bundle = readFileSync(join(outdir, 'functions', name, 'index.js'), 'utf8');

      expect(bundle).toContain('"exchange":{"address":"paper","dialect":"live"}');
      expect(bundle).not.toContain('exchange.example');
      expect(bundle).not.toContain('"mode":"live"');
      expect(bundle).toContain('"mode":"paper"');
      expect(bundle).toContain('"mode":"dry-run"');
    },
  );

  test('bundles the paper exchange, and SQLite into nothing', () => {
    const bundle = readFileSync(join(outdir, 'functions', 'paper-exchange', 'index.js'));

    expect(bundle.byteLength).toBeLessThanOrEqual(500_000);
    expect(bundle.includes('node:sqlite')).toBe(false);
  });

  test('says that it is on paper', () => {
    expect(said).toContain('PAPER: this stack trades on a paper exchange of its own');
  });
});

test('The app refuses a configuration that the exchange would not take from the EU, and says why', async () => {
  const path = join(folder, 'eu.config.mjs');
  const config = { ...infraConfig, exchange: { address: 'eu', dialect: 'live' } };
  writeFileSync(path, `export default ${JSON.stringify(config)};`);

  const refused: { readonly stderr?: string } = await runApp(join(folder, 'refused'), { config: path }).then(
    () => ({}),
    (error: { readonly stderr?: string }) => error,
  );

  expect(refused.stderr).toContain('because exchange.address is the EU address');
  expect(refused.stderr).toContain('Nothing was deployed.');
  expect(refused.stderr).not.toContain('    at ');
});

test.each([
  [{ stage: 'Prod 1' }, 'the stage "Prod 1" must be'],
  [{ config: 'no-such.config.ts' }, 'no-such.config.ts'],
])('The app refuses %j and says why', async (options, reason) => {
  await expect(runApp(join(folder, 'refused'), options)).rejects.toThrow(reason);
});
