import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { projectRoot } from '../support/project-files.ts';
import { findFreePorts } from './caddy-process.ts';

const run = promisify(execFile);
const programs = ['/bin/sh', '/usr/bin/env', '/bin/mkdir', '/bin/chown', '/bin/chmod', '/bin/rm'];

let folder: string;
let environment: NodeJS.ProcessEnv;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'relay-image-'));
  // Neither a daemon nor a mount: image and container are plain files of this folder.
  writeFileSync(
    join(folder, 'storage.conf'),
    `[storage]\ndriver = "vfs"\ngraphroot = "${folder}/graph"\nrunroot = "${folder}/run"\n`,
  );
  environment = {
    ...process.env,
    BUILDAH_ISOLATION: 'chroot',
    STORAGE_DRIVER: 'vfs',
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
  };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function buildah(...args: readonly string[]) {
  return run('buildah', args, { env: environment, maxBuffer: 64 * 1024 * 1024, cwd: projectRoot });
}

/** A base as a registry would give it: this Node, npm, a shell, and the libraries they need. */
async function buildBase(): Promise<string> {
  const root = join(folder, 'root');
  const put = (from: string, to: string) => {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    copyFileSync(realpathSync(from), join(root, to));
  };
  put(process.execPath, '/usr/local/bin/node');
  for (const program of programs) put(program, program);
  for (const program of [process.execPath, ...programs])
    for (const library of listLibraries(program)) put(library, library);
  const modules = execFileSync('npm', ['root', '-g'], { encoding: 'utf8' }).trim();
  const npm = realpathSync(join(modules, 'npm'));
  mkdirSync(join(root, 'usr/local/lib/node_modules'), { recursive: true });
  cpSync(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true, dereference: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  for (const name of ['tmp', 'etc', 'root', 'proc', 'sys', 'dev'])
    mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\n');
  writeFileSync(
    join(folder, 'Containerfile.base'),
    `FROM scratch\nCOPY . /\nENV PATH=/usr/local/bin:/usr/bin:/bin\n${describeNpm(root)}`,
  );
  await buildah('bud', '-f', join(folder, 'Containerfile.base'), '-t', 'localhost/base', root);
  return 'localhost/base';
}

function listLibraries(program: string): readonly string[] {
  const said = execFileSync('ldd', [program], { encoding: 'utf8' });
  return [...said.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path = '']) => path);
}

/** How npm reaches the registry from within the build, where this machine needs more than its name. */
function describeNpm(root: string): string {
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  const settings: Record<string, string> = { npm_config_registry: registry };
  const authorities = process.env['NODE_EXTRA_CA_CERTS'] ?? process.env['SSL_CERT_FILE'] ?? '';
  if (authorities !== '') {
    copyFileSync(realpathSync(authorities), join(root, 'etc/authorities.pem'));
    settings['NODE_EXTRA_CA_CERTS'] = '/etc/authorities.pem';
  }
  for (const name of ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY'])
    if (process.env[name] !== undefined) settings[name] = process.env[name];
  return Object.entries(settings)
    .map(([name, value]) => `ENV ${name}=${value}\n`)
    .join('');
}

test('the image builds on a base that has Node, and its relay starts, is healthy as a user without rights, and stops', async () => {
  const base = await buildBase();
  await buildah(
    'bud',
    '--build-arg',
    `BASE=${base}`,
    '--ignorefile',
    '.containerignore',
    '-f',
    'infra/server/Containerfile',
    '-t',
    'localhost/trading-relay',
    '.',
  );
  const container = (await buildah('from', 'localhost/trading-relay')).stdout.trim();
  const [port = 0] = await findFreePorts(1);
  const config = join(folder, 'relay.config.ts');
  copyFileSync(join(projectRoot, 'relay.config.example.ts'), config);
  const { stdout: inspected } = await buildah('inspect', '--type', 'image', 'localhost/trading-relay');
  const { Entrypoint: entrypoint, Cmd: usualArguments } = JSON.parse(inspected).OCIv1.config;
  const options = ['--volume', `${config}:/config/relay.config.ts:ro`, '--env', `RELAY_PORT=${port}`];
  const relay = spawn(
    'buildah',
    ['run', ...options, container, '--', ...entrypoint, ...usualArguments, '--paper-port', '0'],
    {
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const lines: string[] = [];
  for await (const line of createInterface({ input: relay.stdout })) {
    lines.push(line);
    if (line === 'ready') break;
  }
  relay.stdout.resume();
  const health = await fetch(`http://127.0.0.1:${port}/health`);
  const command = ['node', 'bin/relay.cjs', 'signals', '--data', '/data/paper'];
  const { stdout: listed } = await buildah('run', ...options, container, '--', ...command);
  const [, pid = ''] = /^ {2}process +(\d+) /m.exec(lines.join('\n')) ?? [];
  const owner = (await run('ps', ['-o', 'uid=', '-p', pid])).stdout.trim();
  process.kill(Number(pid), 'SIGTERM');
  const [exitCode] = await once(relay, 'exit');

  expect(lines.at(-1)).toBe('ready');
  // It would be shown at an address that leads nowhere.
  expect(lines.filter((line) => /^ {2}page /.test(line))).toEqual([]);
  expect([health.status, await health.json()]).toMatchObject([200, { status: 'ok', trades: 'paper' }]);
  expect(listed).toBe('No signals yet.\n');
  expect([owner, exitCode]).toEqual(['10001', 0]);
});
