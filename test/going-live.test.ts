import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Endpoint } from '../lib/exchange/endpoint.ts';
import { runCli } from './cli/run-cli.ts';
import { type RunningRelay, startRelay } from './cli/running-relay.ts';
import { projectRoot, readProjectFile } from './support/project-files.ts';

const document = readProjectFile('docs/going-live.md');

/** The commands of the document, as they stand in its blocks. */
const commands = Array.from(document.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm), ([, block = '']) =>
  block.split('\n').map((line) => line.trim()),
)
  .flat()
  .filter((line) => line !== '');

/** What needs a terminal of its own, or an AWS account; each is tried elsewhere. */
const elsewhere = [
  // test/infra/local/start.test.ts
  'npm start',
  // test/deploy, and the CDK itself
  'export AWS_REGION=eu-central-1',
  'npx cdk bootstrap',
  'npx cdk deploy',
  // It asks before each step: test/cli/rehearse.test.ts
  'npx relay rehearse main BTC_USDT',
];

describe('the way to live', () => {
  let relay: RunningRelay;
  beforeEach(async () => {
    relay = await startRelay('live');
    relay.world.setPrice('BTC_USDT', '50000');
  });
  afterEach(() => relay.world.close());

  test('has commands that work in the order in which they stand', async () => {
    const tried = commands.filter((command) => !elsewhere.includes(command));
    const failed: object[] = [];
    for (const command of tried) {
      const words = command.split(' ');
      const input = command.includes('keys set') ? 'paper-key\npaper-secret\n' : '';
      const { exitCode, stderr } = await runCli(relay.here(...words.slice(2)), input);
      if (exitCode !== 0 || !command.startsWith('npx relay ')) failed.push({ command, exitCode, stderr });
    }

    expect(failed).toEqual([]);
    expect(tried.length).toBeGreaterThan(15);
    expect(elsewhere.filter((command) => !commands.includes(command))).toEqual([]);
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
