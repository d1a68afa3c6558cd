import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { transform } from 'esbuild';
import { listProjectFiles, projectRoot, readProjectFile } from '../support/project-files.ts';

const system = process.platform === 'win32' ? 'win' : process.platform;
const packagedName = `node-${system}-${process.arch}`;
/** Where an installation puts the Node it brings. */
const packagedNode = `node_modules/${packagedName}/bin/node`;

type Running = ChildProcessByStdio<null, Readable, Readable>;

let folder: string;
let running: Running[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'relay-launch-'));
  cpSync(join(projectRoot, 'bin'), join(folder, 'bin'), { recursive: true });
  const packages = { optionalDependencies: { [packagedName]: '24.0.0' } };
  write('package.json', JSON.stringify({ type: 'module', engines: { node: '>=24' }, ...packages }));
});
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running = [];
  rmSync(folder, { recursive: true });
});

function write(path: string, content: string, mode = 0o644): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content, { mode });
}

/** The Node of these tests, in the place of the one that is installed. */
function installNode(version = '24.21.0'): void {
  write(`node_modules/${packagedName}/package.json`, JSON.stringify({ version }));
  mkdirSync(dirname(join(folder, packagedNode)));
  symlinkSync(process.execPath, join(folder, packagedNode));
}

/** What the Node that reads the launcher says of itself, where it is not the one of these tests. */
interface Pretence {
  readonly version?: string;
  readonly arch?: string;
}

/** @param npmScript which script npm runs, from a shell that does not pass signals on; absent: there is no npm */
function start(args: readonly string[], { version, arch }: Pretence = {}, npmScript?: string): Running {
  write(
    'pretence.cjs',
    [
      version && `Object.defineProperty(process, 'versions', { value: { node: '${version}' } });`,
      arch && `Object.defineProperty(process, 'arch', { value: '${arch}' });`,
    ].join('\n'),
  );
  const options = ['--require', join(folder, 'pretence.cjs'), join(folder, 'bin', 'run.cjs')];
  const command = [process.execPath, ...options, ...args];
  const [file = '', ...rest] =
    npmScript === undefined ? command : ['/bin/sh', '-c', '"$0" "$@"; exit $?', ...command];
  const child = spawn(file, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, npm_lifecycle_event: npmScript },
  });
  running.push(child);
  return child;
}

async function finish(child: Running) {
  const [stdout, stderr, [exitCode, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { exitCode, signal, stdout, stderr };
}

const run = (args: readonly string[], pretence?: Pretence) => finish(start(args, pretence));

describe('a script', () => {
  const tell = 'console.log(JSON.stringify({ pid: process.pid, args: process.argv.slice(2) }));';

  test('runs in the process of a Node that is new enough', async () => {
    write('script.mjs', `${tell} process.exitCode = 7;`);
    const child = start(['script.mjs', '--json', 'a b']);

    const { exitCode, stdout, stderr } = await finish(child);

    expect(JSON.parse(stdout)).toEqual({ pid: child.pid, args: ['--json', 'a b'] });
    expect([exitCode, stderr]).toEqual([7, '']);
  });

  test.each(['12.22.12', '18.20.8', '22.23.3', '23.99.99'])(
    'runs on the installed Node where the running one is %s, without the link that npm may remove',
    async (version) => {
      installNode();
      write('script.ts', `const code: number = 7; ${tell} process.exitCode = code;`);
      const child = start(['script.ts', '--json', 'a b'], { version });

      const { exitCode, stdout, stderr } = await finish(child);

      const { pid, args } = JSON.parse(stdout);
      expect(pid).not.toBe(child.pid);
      expect(args).toEqual(['--json', 'a b']);
      expect([exitCode, stderr]).toEqual([7, '']);
    },
  );

  test('is given the options of Node that stand before it', async () => {
    write('script.mjs', 'console.log(process.execArgv.join(), process.argv.slice(2).join());');

    const { stdout } = await run(['--experimental-vm-modules', 'script.mjs', '--other']);

    expect(stdout).toBe('--experimental-vm-modules --other\n');
  });

  test('that throws is told as Node tells it', async () => {
    write('script.mjs', "throw new Error('a fault of the project');");

    const { exitCode, stderr } = await run(['script.mjs']);

    expect(exitCode).toBe(1);
    expect(stderr).toContain('script.mjs:1');
    expect(stderr).toContain('a fault of the project');
  });

  test.each([{}, { version: '18.20.8' }])('whose reader leaves ends quietly (%j)', async (pretence) => {
    installNode();
    write(
      'script.mjs',
      "for (let n = 0; n < 1000; n += 1) { process.stdout.write('x'.repeat(10_000)); await new Promise(setImmediate); }",
    );
    const child = start(['script.mjs'], pretence);
    child.stdout.once('data', () => child.stdout.destroy());

    const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')]);

    expect([exitCode, stderr]).toEqual([0, '']);
  });
});

describe('on the installed Node, a script', () => {
  const old = { version: '18.20.8' };
  const wait = 'setInterval(() => undefined, 1000); console.log(process.pid);';
  beforeEach(() => installNode());

  async function startWaiting(script: string): Promise<Running> {
    write('script.mjs', `${script} ${wait}`);
    const child = start(['script.mjs'], old);
    await once(child.stdout, 'data');
    return child;
  }

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('gets %s and decides itself', async (signal) => {
    const child = await startWaiting(`process.once('${signal}', () => process.exit(3));`);

    child.kill(signal);

    expect(await once(child, 'exit')).toEqual([3, null]);
  });

  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'that is ended by %s ends the launcher alike',
    async (signal) => {
      write('script.mjs', `${wait} process.kill(process.pid, '${signal}');`);

      expect(await run(['script.mjs'], old)).toMatchObject({ exitCode: null, signal });
    },
  );

  test('does not outlive a launcher that is killed', async () => {
    const child = await startWaiting(
      "process.once('SIGTERM', () => { console.log('ended'); process.exit(); });",
    );

    child.kill('SIGKILL');

    // The end of the output is the end of whoever holds it.
    expect(await text(child.stdout)).toBe('ended\n');
  });
});

test.each([{}, { version: '18.20.8' }])(
  'a script does not outlive the shell that npm started it from (%j)',
  async (pretence) => {
    installNode();
    write(
      'script.mjs',
      "process.once('SIGTERM', () => { console.log('ended'); process.exit(); }); setInterval(() => undefined, 1000); console.log('runs');",
    );
    const shell = start(['script.mjs'], pretence, 'start');
    await once(shell.stdout, 'data');

    shell.kill('SIGTERM');

    expect(await text(shell.stdout)).toBe('ended\n');
  },
);

describe('what is missing is said in one sentence:', () => {
  const old = { version: '18.20.8' };
  const need = 'error: the relay needs Node 24 or later, this is 18.20.8, and';
  beforeEach(() => write('script.mjs', "import 'commander'; console.log('runs');"));

  async function fail(pretence: Pretence): Promise<string> {
    const { exitCode, stdout, stderr } = await run(['script.mjs'], pretence);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^error: .*\.\n$/);
    return stderr;
  }

  test('the installation, for an older Node', async () => {
    expect(await fail(old)).toBe(
      `${need} the package ${packagedName}, which contains it, is not installed: run \`npm ci\` first.\n`,
    );
  });

  test('the Node of an installation that left it out', async () => {
    write('node_modules/commander/package.json', '{}');

    expect(await fail(old)).toContain('is not installed: run `npm ci` (without --omit) again.');
  });

  test('the Node of an installation that is too old itself', async () => {
    installNode('22.0.0');

    expect(await fail(old)).toContain('run `npm ci` (without --omit) again.');
  });

  test('a package of Node for this machine', async () => {
    expect(await fail({ ...old, arch: 'riscv64' })).toBe(
      `${need} npm has no package of Node for ${system} on riscv64: install Node from https://nodejs.org.\n`,
    );
  });

  test('the C library that the installed Node is made for', async () => {
    installNode();
    rmSync(join(folder, packagedNode));
    // The loader that a program names is missing: for the operating system the program is then not there.
    write(packagedNode, '#!/lib/ld-missing.so\n', 0o755);

    expect(await fail(old)).toContain('needs glibc, which this system does not have (Alpine uses musl):');
  });

  test('the right to run the installed Node', async () => {
    installNode();
    rmSync(join(folder, packagedNode));
    write(packagedNode, '');

    expect(await fail(old)).toContain('cannot be started (spawn');
  });

  test('the installation', async () => {
    expect(await fail({})).toBe(
      "error: a package is missing or broken (Cannot find package 'commander'): run `npm ci` again.\n",
    );
  });

  test.each([
    ['a file of a package', { 'package.json': '{"type":"module","main":"index.js"}' }],
    [
      'half of a package',
      { 'package.json': '{"type":"module","main":"i.js"}', 'i.js': 'export const a = [' },
    ],
    ['half of its description', { 'package.json': '{"type":' }],
  ])('%s', async (_, files: Readonly<Record<string, string>>) => {
    for (const [name, content] of Object.entries(files)) write(`node_modules/commander/${name}`, content);

    expect(await fail({})).toMatch(/^error: a package is missing or broken \(.*\): run `npm ci` again\.\n$/);
  });

  test('a package of the release that the project names', async () => {
    write('script.mjs', "import { Command } from 'commander'; new Command();");
    write('node_modules/commander/package.json', '{"type":"module","main":"index.js"}');
    write('node_modules/commander/index.js', 'export const other = 1;');

    expect(await fail({})).toContain("The requested module 'commander' does not provide an export");
  });

  test('a program of a package', async () => {
    const { exitCode, stderr } = await run(['node_modules/jest/bin/jest.js']);

    expect([exitCode, stderr]).toEqual([
      1,
      'error: node_modules/jest/bin/jest.js is missing: run `npm ci` first.\n',
    ]);
  });
});

describe('the launcher', () => {
  const parts = listProjectFiles('bin');

  test.each(parts)('is written so that Node 12 can read %s', async (path) => {
    const source = readProjectFile(path);
    const forNode = async (target: string) => (await transform(source, { target, platform: 'node' })).code;

    // The dynamic import that Node 12.20 knows is reached by newer ones only.
    expect(await forNode('node12.20')).toBe(await forNode('esnext'));
    expect(source).not.toMatch(/require\('node:/);
  });

  test('is what every script of the project begins with', () => {
    const { scripts } = JSON.parse(readProjectFile('package.json')) as { scripts: Record<string, string> };
    const { app } = JSON.parse(readProjectFile('cdk.json')) as { app: string };
    const commands = [...Object.values(scripts), app].flatMap((script) => script.split(' && '));

    expect(commands.filter((command) => !/^(node bin\/(run|relay)\.cjs|npm) /.test(`${command} `))).toEqual(
      [],
    );
  });
});
