import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot, readProjectFile } from '../support/project-files.ts';
import { runCli, runForJson } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';

let relay: RunningRelay;
beforeAll(async () => {
  relay = await startRelay('live');
});
afterAll(() => relay.world.close());

/** Runs a command of package.json as npm does. */
async function runScript(
  script: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
) {
  const [, ...launch] = script.split(' ');
  const env = { ...process.env, NO_COLOR: '1', ...environment };
  const child = spawn(process.execPath, [...launch, ...args], { cwd: projectRoot, env });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { exitCode, stdout, stderr };
}

const { scripts, bin, version } = JSON.parse(readProjectFile('package.json')) as {
  scripts: Readonly<Record<string, string>>;
  bin: Readonly<Record<string, string>>;
  version: string;
};

describe('the command relay', () => {
  test('is a program of the package, and tells its release', async () => {
    const { exitCode, stdout } = await runScript(`node ${bin['relay']}`, ['--version'], {});

    expect([exitCode, stdout]).toEqual([0, `${version}\n`]);
  });

  test('shows how a command is used when help is asked for', async () => {
    const [asked, given] = await Promise.all([runCli(['help', 'pause']), runCli(['pause', '--help'])]);

    expect(asked).toEqual(given);
    expect([asked.exitCode, asked.stdout.split('\n')[0]]).toEqual([
      0,
      'Usage: relay pause [options] [account]',
    ]);
  });

  test.each(['close', 'close-all', 'protect'])(
    'says in the help of %s which pause stops it',
    async (command) => {
      const { stdout } = await runCli(['help', command], '', { width: 200 });

      expect(stdout).toContain('lso while paused, except with `pause --everything`');
    },
  );

  test('does nothing when npm took an option of it, and shows the right line', async () => {
    const args = relay.here('pause', 'main');
    const environment = { npm_lifecycle_event: 'relay', npm_config_stack: 'trading-relay-prod' };

    const { exitCode, stdout, stderr } = await runScript(scripts['relay'] ?? '', args, environment);

    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain('npm took --stack trading-relay-prod for itself, and nothing was done');
    expect(stderr).toContain(`\`npx relay ${args.join(' ')} --stack trading-relay-prod\``);
    expect(stderr).toContain(`\`npm run -s relay -- ${args.join(' ')} --stack trading-relay-prod\``);
    expect(await relay.world.ledger.readPause('main')).toBeNull();
  });
});

describe('every response that changes something names its target:', () => {
  const changes: readonly (readonly [command: string, input?: string])[] = [
    ['send examples/buy-stop-limit.json'],
    ['pause main'],
    ['resume main'],
    ['keys set rehearsal', 'paper-key-2\npaper-secret-2\n'],
    ['token rotate rehearsal'],
    ['redrive'],
    ['interest retry'],
    ['paper price BTC_USDT 60000'],
    ['paper balance BTC 1'],
    ['paper hedge on'],
    ['paper fee BTC --withdraw-fixed 0.0005'],
    ['paper interest USDT 1'],
    ['paper fault refuse --endpoint stop-limit'],
    ['paper clear-faults'],
    ['resolve example-buy-1'],
  ];

  test.each(changes)('%s', async (command, input = '') => {
    const args = relay.here(...command.split(' '));
    const document = await runForJson(args, input);
    const { stdout } = await runCli(args, input);
    // In this process a command that waits for the lock of the database would keep the worker from letting go of it.
    if (command.startsWith('send ')) await relay.world.settled('example-buy-1');

    expect(document).toMatchObject({ target: relay.target });
    expect(stdout.startsWith(relay.targetLine)).toBe(true);
  });

  test('cancel', async () => {
    const document = async (id: string) => {
      const alert = { id, ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', stopPrice: '60500' };
      await relay.world.post(JSON.stringify(alert));
      const { orderId } = await relay.world.settled(id);
      return relay.here('cancel', 'BTC_USDT', '--order-id', String(orderId));
    };

    expect(await runForJson(await document('first'))).toMatchObject({ target: relay.target });
    const { stdout } = await runCli(await document('second'));
    expect(stdout.startsWith(relay.targetLine)).toBe(true);
  });
});

describe('--help prints how it is used and does nothing:', () => {
  const asking = ['start', 'relay', 'demo', 'bench', 'bench:snapshots', 'simulate', 'chaos'];

  test.each(asking)('npm run %s', async (name) => {
    const { exitCode, stdout, stderr } = await runScript(scripts[name] ?? '', ['--help'], {});

    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Usage: (npm (run )?|relay )/);
  });
});
