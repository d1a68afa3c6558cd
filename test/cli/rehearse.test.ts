import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { runProgram } from '../../cli/program.ts';
import { mainPath, runCli, runForFailure, runForJson, shippedConfig } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';

let relay: RunningRelay;

beforeEach(async () => {
  relay = await startRelay('live');
});
afterEach(() => relay.world.close());

const rehearse = (...args: string[]) => relay.here('rehearse', 'main', 'BTC_USDT', ...args);
const openOrders = () => relay.world.paper.control.state().orders.filter(({ status }) => status === 'open');
const checkOf = async (ground: string) => {
  const run = await runCli(relay.here('doctor', '--json'));
  const { checks } = JSON.parse(run.stdout) as { checks: { name: string; verdict: string; found: string }[] };
  return checks.find(({ name }) => name === `rehearsal of main on ${ground}`);
};

/** Runs the tool as if its input were typed in a terminal. */
async function typeIn(args: readonly string[], answers: readonly string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const told = Promise.all([text(stdout), text(stderr)]);
  const left = [...answers];
  stderr.on('data', (chunk: Buffer) => {
    if (chunk.toString().includes('[y/N]')) stdin.write(`${left.shift() ?? 'n'}\n`);
  });
  const argv = [process.execPath, mainPath, ...args, '--config', shippedConfig];
  const exitCode = await runProgram(argv, { stdin, stdout, stderr, width: null, timeZone: 'UTC' });
  stdout.end();
  stderr.end();
  const [out, err] = await told;
  return { exitCode, out, err };
}

describe('rehearse', () => {
  test('goes through the steps up to the named one, and doctor tells what was found', async () => {
    expect(await checkOf('margin')).toBeUndefined();

    const document = await runForJson(rehearse('--yes', '--to', '5'));

    expect(document).toMatchObject({
      target: relay.target,
      account: 'main',
      market: 'BTC_USDT',
      ground: 'margin',
      tried: ['1', '2', '3', '4', '5'],
      declined: null,
      steps: { '4': { market: 'BTC_USDT', found: { trigger: 'by_price' } } },
    });
    expect(openOrders()).toEqual([]);
    expect(await checkOf('margin')).toMatchObject({
      verdict: 'warn',
      found: expect.stringContaining('Not passed yet: 6'),
    });
  });

  test('with the last step opens and closes a position in a paused account', async () => {
    const refused = await runForFailure(rehearse('--yes', '--to', '6'));
    expect(refused).toMatchObject({ code: 'not_paused', action: expect.stringContaining('pause main') });
    await runCli(relay.here('pause', 'main'));

    const { exitCode, stdout, stderr } = await runCli(rehearse('--yes', '--to', '6'), '', { width: 100 });

    expect({ exitCode, open: openOrders() }).toEqual({ exitCode: 0, open: [] });
    expect(stderr).toMatch(/Each order is worth about [\d.]+ USDT; fees come to about [\d.]+ USDT/);
    expect(stdout).toContain('All steps have passed.');
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(100);
    expect(await checkOf('margin')).toMatchObject({
      verdict: 'ok',
      found: expect.stringMatching(
        /2 exits of an entry after 0.0 s, the stop-loss as stop_limit of [\d.]+ \(order \d+\), not marked as reduce-only, the take-profit as limit of [\d.]+ \(order \d+\), not marked as reduce-only, listed in orders, conditional-orders;/,
      ),
    });
    expect(await runForJson(rehearse('--yes', '--to', '6'))).toMatchObject({ tried: [] });
  });

  test('asks before each step, and stops at a no', async () => {
    const { exitCode, out, err } = await typeIn(rehearse(), ['y', 'yes', '']);

    expect(exitCode).toBe(0);
    expect(err).toContain('Step 1: read every list once? [y/N]');
    expect(err).toContain('Step 2 passed: a new order is listed after 0.0 s');
    expect(out).toContain('Step 3 was not tried.');
  });

  test('refuses a second one of the account while one runs, and says who and since when', async () => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    stdout.resume();
    const argv = [process.execPath, mainPath, ...rehearse(), '--config', shippedConfig];
    const first = runProgram(argv, { stdin, stdout, stderr, width: null, timeZone: 'UTC' });
    for await (const chunk of stderr) if (String(chunk).includes('[y/N]')) break;

    const refused = await runForFailure(rehearse('--yes', '--to', '1'));

    expect(refused).toMatchObject({
      exitCode: 1,
      code: 'rehearsal_in_use',
      message: expect.stringMatching(
        /^account main is rehearsed on margin by process \d+ on \S+ since [-\d]{10} [:\d]{8} UTC$/,
      ),
      action: expect.stringContaining('Wait until the other rehearsal has ended'),
    });
    stdin.write('n\n');
    expect(await first).toBe(0);
    expect(await runForJson(rehearse('--yes', '--to', '1'))).toMatchObject({ tried: ['1'] });
  });

  test('says what stopped it, and that nothing is left', async () => {
    relay.world.paper.control.setExits({ takesUsedIds: true });

    const failure = await runForFailure(rehearse('--yes', '--to', '5'));

    expect(failure).toMatchObject({
      exitCode: 1,
      code: 'rehearsal_stopped',
      message: expect.stringContaining('step 2 did not pass: the exchange took a second order'),
    });
    expect(openOrders()).toEqual([]);
    expect(await checkOf('margin')).toMatchObject({
      verdict: 'fail',
      found: expect.stringContaining('step 2'),
    });
  });

  test('takes the free demo pair on spot, by its ticker', async () => {
    await runCli(relay.here('pause', 'main'));

    const document = await runForJson(relay.here('rehearse', 'main', 'dbtcdusdt', '--yes', '--to', '6'));

    expect(document).toMatchObject({
      ground: 'spot',
      steps: { '6': { found: { feeIn: 'DBTC', stop: 'taken' } } },
    });
  });

  test.each([
    [['main', 'BTC_USDT', '--yes'], '--yes needs --to'],
    [['main', 'BTC_USDT'], 'there is no terminal to ask in'],
    [['main', 'XRP_USDT', '--yes', '--to', '1'], 'account main has no market "XRP_USDT" in relay.config.ts'],
  ])('is not understood as %j', async (args, message) => {
    expect(await runForFailure(relay.here('rehearse', ...args))).toMatchObject({ exitCode: 2, message });
  });
});

test('nothing can be rehearsed in the documented dialect', async () => {
  const documented = await startRelay('documented');
  try {
    const failure = await runForFailure(
      documented.here('rehearse', 'main', 'BTC_USDT', '--yes', '--to', '1'),
    );
    expect(failure).toMatchObject({ exitCode: 1, code: 'not_in_dialect' });
  } finally {
    await documented.world.close();
  }
});
