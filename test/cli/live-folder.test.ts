import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createDataFolder, type DataFolder, writeRun } from '../../lib/host/data-folder.ts';
import { runCli, runForFailure } from './run-cli.ts';

const nobody = 'http://127.0.0.1:1';
let folder: DataFolder;

/** The folder of a live relay that is stopped, and whose exchange cannot be reached. */
beforeAll(() => {
  folder = createDataFolder(mkdtempSync(join(tmpdir(), 'relay-cli-live-')));
  writeRun(folder, { relayUrl: nobody, exchangeUrl: nobody, dialect: 'live', trades: 'live' });
  writeFileSync(
    folder.secretsPath,
    JSON.stringify({
      main: { webhookTokens: ['a'.repeat(43)], exchangeKeys: { apiKey: 'a-key', apiSecret: 'a-secret' } },
    }),
  );
});
afterAll(() => rmSync(folder.path, { recursive: true }));

const here = (...args: string[]) => [...args, '--data', folder.path];

describe('a live relay', () => {
  test('whose exchange cannot be reached does not ask for a start', async () => {
    const failures = await Promise.all(
      [['ping'], ['orders'], ['balance']].map((args) => runForFailure(here(...args))),
    );

    expect(failures.map(({ code, message }) => `${code}: ${message}`)).toEqual(
      Array(3).fill(`not_running: the exchange at ${nobody} cannot be reached from this machine`),
    );
    expect(failures.map(({ action }) => action)).toEqual(
      Array(3).fill(
        `Check the network of this machine and exchange.address in relay.config.ts, then try again. \`npx relay doctor --data ${folder.path}\` checks what else is wrong.`,
      ),
    );
  });

  test('that is stopped is started as a live one', async () => {
    const { message, action } = await runForFailure(here('send', '-'));

    expect(message).toBe(`the relay at ${nobody} is not running`);
    expect(action).toBe(`Start it with \`npm start -- --live --data ${folder.path}\`.`);
  });

  test('tells what the key of an account in dry-run is used for', async () => {
    const { stderr } = await runCli(here('keys', 'set', 'rehearsal'));

    expect(stderr).toContain(
      'In mode dry-run, no alert sends an order with it: it reads balances, fees and interest. Your own commands use it in every mode: `relay cancel`, and `relay rehearse`, which places orders and whose last step trades.',
    );
  });
});
