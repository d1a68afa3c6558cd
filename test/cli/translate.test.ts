import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { runCli, runForFailure, runForJson } from './run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'relay-translate-'));
afterAll(() => rmSync(folder, { recursive: true }));
/** No relay was ever started there: the command needs none. */
const data = ['--data', join(folder, 'none')];

describe('translate', () => {
  test('reads standard input, and prints the message with each word', async () => {
    const alert =
      '{"apikey": "k3y-of-mine-1234", "strategy": "Trend", "symbol": "{{ticker}}", "action": "BUY", "product": "MIS", "pricetype": "MARKET", "quantity": "0.01"}';
    const { exitCode, stdout } = await runCli(['translate', ...data], alert);

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^This is OpenAlgo\. The relay takes it as it is; in full it says:$/m);
    expect(stdout).toContain(
      '{\n  "ticker": "{{ticker}}",\n  "action": "buy",\n  "orderType": "market",\n  "quantity": "0.01",\n  "time": "{{timenow}}",\n  "strategy": "Trend"\n}',
    );
    expect(stdout).toMatch(/^apikey \(removed\) +– +the token in the webhook URL is the only secret here$/m);
    expect(stdout).toMatch(/^Account main takes the message, with the placeholders filled\.$/m);
    expect(stdout).not.toContain('k3y-of-mine');
  });

  test('reads a file, and prints a document for programs', async () => {
    const file = join(folder, 'alert.txt');
    writeFileSync(file, 'sell BTC/USDT 0.001');

    expect(await runForJson(['translate', file, '--account', 'rehearsal', ...data])).toEqual({
      product: 'words',
      account: 'rehearsal',
      message: {
        ticker: 'BTCUSDT',
        action: 'sell',
        orderType: 'market',
        quantity: '0.001',
        time: '{{timenow}}',
      },
      words: [
        { theirs: 'sell', ours: { action: 'sell' }, note: '' },
        { theirs: 'BTC/USDT', ours: { ticker: 'BTCUSDT' }, note: '' },
        { theirs: '0.001', ours: { quantity: '0.001' }, note: '' },
      ],
      advice: [],
    });
  });

  test('says that a message which the relay would refuse is to be replaced', async () => {
    const { stdout } = await runCli(['translate', ...data], 'sell BTC/USDT 0.001');

    expect(stdout).toMatch(/^This is words\. Paste this instead:$/m);
  });

  test('fails when there is nothing to paste, and says what is missing', async () => {
    const failure = await runForFailure(['translate', ...data], '60123456789,buy,EURUSD,risk=1');

    expect(failure).toMatchObject({ exitCode: 1, code: 'not_translated' });
    expect(failure.message).toBe(
      'there is nothing to paste: this is PineConnector, and its meaning cannot be told',
    );
    expect(failure.issues[0]).toEqual({
      path: 'missing',
      message: 'the size: "quantity" in the base currency; lots and risk depend on settings there',
      hint: '',
    });
    expect(JSON.stringify(failure)).not.toContain('60123456789');
  });

  test('names a file that cannot be read', async () => {
    expect(await runForFailure(['translate', join(folder, 'absent'), ...data])).toMatchObject({
      exitCode: 1,
      code: 'file_unreadable',
    });
  });
});
