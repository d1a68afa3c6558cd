import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { projectRoot } from './support/project-files.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'relay-runner-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a process that starts late runs its test files, too', async () => {
  // The second process hears nothing of its tests before the first one runs one.
  writeFileSync(
    join(folder, 'late.mjs'),
    `import { readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
const hasBegun = () => readdirSync(${JSON.stringify(folder)}).some((name) => name.endsWith('.begun'));
const { on } = process;
if (process.env.TINYPOOL_WORKER_ID === '2')
  process.on = (event, listener) =>
    on.call(process, event, async (message, ...more) => {
      while (message?.__tinypool_worker_message__ && !hasBegun()) await setTimeout(20);
      listener(message, ...more);
    });
`,
  );
  // Neither ends before both have begun, so that each needs a process.
  for (const [name, other] of [
    ['one', 'two'],
    ['two', 'one'],
  ])
    writeFileSync(
      join(folder, `${name}.test.mjs`),
      `import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
test('${name}', async () => {
  writeFileSync(${JSON.stringify(join(folder, `${name}.begun`))}, '');
  while (!existsSync(${JSON.stringify(join(folder, `${other}.begun`))})) await setTimeout(20);
}, 60_000);
`,
    );
  const configPath = join(folder, 'config.mjs');
  writeFileSync(
    configPath,
    `import { together } from ${JSON.stringify(join(projectRoot, 'jest.config.mjs'))};
export default {
  ...together,
  rootDir: ${JSON.stringify(projectRoot)},
  roots: [${JSON.stringify(folder)}],
  setupFiles: [],
  testMatch: ['**/*.test.mjs'],
  maxWorkers: 2,
};
`,
  );
  const reportPath = join(folder, 'report.json');
  const jest = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--experimental-vm-modules',
      'node_modules/jest/bin/jest.js',
      '--config',
      configPath,
      '--json',
      `--outputFile=${reportPath}`,
    ],
    {
      cwd: projectRoot,
      env: { ...process.env, NODE_OPTIONS: `--import=${join(folder, 'late.mjs')}` },
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 60_000,
      killSignal: 'SIGKILL',
    },
  );
  let said = '';
  jest.stderr.on('data', (text) => {
    said += String(text);
  });
  const [code] = await once(jest, 'exit');

  expect({ code, said, hasReport: existsSync(reportPath) }).toMatchObject({ code: 0, hasReport: true });
  expect(said).toContain('2 passed, 2 total');
});
