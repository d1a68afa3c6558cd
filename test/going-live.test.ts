import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Endpoint } from '../lib/exchange/endpoint.ts';
import { runCli } from './cli/run-cli.ts';
import { type StandIn, startStandIn, tokens } from './notices/stand-in.ts';
import { type LivePlace, openLivePlace, type StartedRelay, writeConfig } from './support/live-place.ts';
import { projectRoot, readProjectFile } from './support/project-files.ts';
import { testConfig } from './support/world.ts';

const document = readProjectFile('docs/going-live.md');

/** The commands of the document, as they stand in the blocks of its steps. */
const commands = document.split(/^## (?=\d)/m).flatMap((section, step) =>
  Array.from(section.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm), ([, block = '']) => block.split('\n'))
    .flat()
    .map((line) => ({ step, command: line.trim() }))
    .filter(({ command }) => command !== ''),
);

/** What needs an AWS account (test/deploy, and the CDK itself), and the folder, which is another one here. */
const elsewhere = [
  'export AWS_REGION=eu-central-1',
  'npx cdk bootstrap',
  'npx cdk deploy',
  'export RELAY_DATA=.relay-live',
];

describe('the way to live', () => {
  let place: LivePlace;
  let standIn: StandIn;
  let relay: StartedRelay;
  let configPath: string;
  const authorities = getCACertificates('default');
  beforeEach(async () => {
    place = await openLivePlace();
    configPath = place.configPath;
    standIn = await startStandIn();
    // The commands run in this process, and trust the exchange as the relay does.
    setDefaultCACertificates([...authorities, readFileSync(place.certificatePath, 'utf8')]);
  });
  afterEach(async () => {
    setDefaultCACertificates(authorities);
    await place.close();
    await standIn.close();
  });

  /** Changes the configuration as a step says: in a new file, because this process reads each but once. */
  function configure({ mode, ...more }: { mode: 'dry-run' | 'live'; notices?: object }): void {
    const exchange = { address: place.exchangeUrl, dialect: 'live' };
    const main = { ...testConfig.accounts.main, mode, maxSlippage: '0.5%' };
    configPath = join(place.folder, `${Object.keys(more).join()}${mode}.config.ts`);
    writeConfig(configPath, { ...testConfig, ...more, exchange, accounts: { main } });
  }

  async function startAgain(): Promise<void> {
    await relay.stop();
    relay = await place.start(['--live'], { RELAY_CONFIG: configPath });
    if (!relay.isReady) throw new Error(await relay.complaint);
  }

  /** What the owner types when a command asks. */
  const inputOf = (command: string) =>
    command.includes('keys set')
      ? 'paper-key\npaper-secret\n'
      : command.includes('notify set')
        ? `${tokens.bot}\n-100200300\n${standIn.url}\n`
        : '';

  async function run(step: number, command: string) {
    if (command === 'npm start') {
      relay = await place.start(['--paper-port', '0'], { RELAY_DATA: join(place.folder, 'paper') });
      return null;
    }
    if (command === 'npm start -- --live') {
      configure({ mode: 'dry-run' });
      await startAgain();
      return null;
    }
    const isNotices = command === 'npx relay notify set telegram';
    if (isNotices) configure({ mode: 'live', notices: { channels: ['telegram'] } });
    const [program, tool, ...words] = command.split(' ');
    if (program !== 'npx' || tool !== 'relay') throw new Error(`nobody runs \`${command}\``);
    // In a terminal it asks before each step: test/cli/rehearse.test.ts
    const isAsking = words[0] === 'rehearse' && !words.includes('--yes');
    const data = step === 1 ? join(place.folder, 'paper') : place.data;
    const ran = await runCli(
      [...words, ...(isAsking ? ['--yes', '--to', '6'] : []), ...['--data', data, '--config', configPath]],
      inputOf(command),
    );
    const isPaused = step === 4 && command === 'npx relay pause';
    if (isPaused) configure({ mode: 'live' });
    if (isPaused || isNotices) await startAgain();
    return ran;
  }

  test('has commands that work in the order in which they stand, against an exchange at an https address', async () => {
    const failed: object[] = [];
    const said: string[] = [];
    const tried = commands.filter(({ command }) => !elsewhere.includes(command));
    for (const { step, command } of tried) {
      const ran = await run(step, command);
      if (ran === null ? !relay.isReady : ran.exitCode !== 0) failed.push({ step, command, ...ran });
      if (step > 1) said.push(ran?.stdout ?? '');
    }

    expect(failed).toEqual([]);
    expect(tried.length).toBeGreaterThan(20);
    expect(elsewhere.filter((one) => !commands.some(({ command }) => command === one))).toEqual([]);
    expect(said.filter((text) => text.includes('All steps have passed.'))).toHaveLength(1);
    expect(standIn.shown.telegram.length).toBeGreaterThan(0);
    const { orders, accounts } = place.paper.control.state();
    expect(orders.filter(({ status }) => status === 'open')).toEqual([]);
    expect(accounts['main']?.positions).toEqual({});
    expect(readFileSync(join(place.data, 'relay.log'), 'utf8')).not.toContain('"alarm":true');
  });
});

test('the endpoints of the key are those that the relay asks with it', async () => {
  const folder = join(projectRoot, 'lib/exchange/endpoints');
  const paths = new Set<string>();
  for (const file of readdirSync(folder)) {
    const exported = Object.values((await import(join(folder, file))) as Record<string, Partial<Endpoint>>);
    for (const { access, path } of exported)
      if (access === 'private' && path !== undefined) paths.add(path.live);
  }
  const listed = [...paths].sort().map((path) => `- \`${path}\``);
  const [, told = ''] = /<!-- endpoints -->\n([\s\S]*?)<!-- \/endpoints -->/.exec(document) ?? [];

  expect(told).toBe(`\n${listed.join('\n')}\n\n`);
  expect(listed.length).toBeGreaterThan(20);
});
