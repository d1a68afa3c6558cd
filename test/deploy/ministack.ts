import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { AwsAccess } from '../../lib/base/aws-client.ts';
import { accessOf } from '../support/aws-access.ts';
import { installPythonTools } from './python-tools.ts';
import { plainEnvironment } from './run-process.ts';

/** An AWS of its own on this machine: a plain process, kept in memory, gone when it is closed. */
export interface MiniStack {
  /** For example `http://127.0.0.1:41234`. */
  readonly url: string;
  readonly region: string;
  readonly accountId: string;
  /** Points the AWS clients and the CDK of a child process here; a whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What a client of this process needs; `ca` is the emulator's own certificate. */
  readonly clientOptions: ClientOptions;
  /** The same for the relay's own clients. */
  readonly access: AwsAccess;
  /** What the emulator and the functions wrote to their console so far. */
  readLog(): string;
  /** Forgets everything, functions' processes included, then ends the emulator. */
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly requestHandler: { readonly httpsAgent: { readonly ca: string } } | Record<string, never>;
}

export interface MiniStackOptions {
  /** Whether functions may do only what their roles grant, over TLS; otherwise everything is allowed. */
  readonly enforceRoles?: boolean;
  readonly region?: string;
}

const host = '127.0.0.1';
/** Its root user: the only identity whose calls are allowed when roles are enforced. */
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const startTimeoutMs = 60_000;

/** @throws Error with the emulator's own words when it does not become ready */
export async function startMiniStack(options: MiniStackOptions = {}): Promise<MiniStack> {
  const { enforceRoles = false, region = 'us-east-1' } = options;
  const python = await installPythonTools();
  const home = await createHome();
  const port = await findFreePort();
  const url = `${enforceRoles ? 'https' : 'http'}://${host}:${port}`;
  const logPath = join(home, 'ministack.log');
  const child = launch(python, logPath, {
    ...serverEnvironment(home, port, region),
    ...(enforceRoles ? { AUTH: 'true', USE_SSL: '1' } : {}),
  });
  const readLog = () => readFileSync(logPath, 'utf8');
  const certificatePath = enforceRoles ? join(home, 'ministack-tls', 'server.crt') : null;

  async function close(): Promise<void> {
    await ask(url, 'POST', '/_ministack/reset').catch(() => undefined);
    await end(child);
    await rm(home, { recursive: true, force: true });
  }

  try {
    await untilReady(child, url);
  } catch (error) {
    const said = readLog();
    await close();
    throw new Error(`the emulator did not start: ${String(error)}\n${said}`);
  }
  const ca = certificatePath === null ? null : readFileSync(certificatePath, 'utf8');
  if (ca !== null) setDefaultCACertificates([...getCACertificates(), ca]);
  const access = accessOf({ endpoint: url, region, credentials });
  return {
    url,
    region,
    accountId: '000000000000',
    env: clientEnvironment(url, region, certificatePath),
    clientOptions: {
      endpoint: url,
      region,
      credentials,
      requestHandler: ca === null ? {} : { httpsAgent: { ca } },
    },
    access,
    readLog,
    close: async () => {
      access.transport.close();
      await close();
    },
  };
}

/** Under a `package.json` that says `"type": "module"`, the emulator could run no CommonJS function. */
async function createHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'relay-ministack-'));
  await mkdir(home, { recursive: true });
  await writeFile(join(home, 'package.json'), '{}');
  return home;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** All of it leaks into the functions, so there is nothing in it but what is needed. */
function serverEnvironment(home: string, port: number, region: string): Record<string, string> {
  return {
    ...plainEnvironment(),
    // The functions are run by the first `node` that is found: this one, which is Lambda's release.
    PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
    TMPDIR: home,
    GATEWAY_PORT: String(port),
    BIND_HOST: host,
    MINISTACK_HOST: host,
    MINISTACK_REGION: region,
    IOT_MTLS_ENABLED: '0',
    SFTP_ENABLED: '0',
    NODE_NO_WARNINGS: '1',
  };
}

function clientEnvironment(
  url: string,
  region: string,
  certificatePath: string | null,
): Record<string, string> {
  return {
    ...plainEnvironment(),
    PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
    NO_COLOR: '1',
    NODE_NO_WARNINGS: '1',
    AWS_ENDPOINT_URL: url,
    AWS_ENDPOINT_URL_S3: url,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_EC2_METADATA_DISABLED: 'true',
    // The user's own profiles must have no say here.
    AWS_CONFIG_FILE: '/nonexistent',
    AWS_SHARED_CREDENTIALS_FILE: '/nonexistent',
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    ...(certificatePath === null
      ? {}
      : { NODE_EXTRA_CA_CERTS: certificatePath, AWS_CA_BUNDLE: certificatePath }),
  };
}

function launch(python: string, logPath: string, env: Record<string, string>): ChildProcess {
  const log = openSync(logPath, 'a');
  const child = spawn(python, ['-m', 'ministack'], {
    env,
    cwd: dirname(logPath),
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  return child;
}

async function untilReady(child: ChildProcess, url: string): Promise<void> {
  const giveUpAtMs = Date.now() + startTimeoutMs;
  while (Date.now() < giveUpAtMs) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    if ((await ask(url, 'GET', '/_ministack/ready').catch(() => 0)) === 200) return;
    // It tells nobody when it is ready.
    await sleep(50);
  }
  throw new Error(`it was not ready after ${startTimeoutMs / 1000} s`);
}

/** @returns the HTTP status; who answers on this port of this machine is not in doubt, so no certificate is asked */
async function ask(url: string, method: string, path: string): Promise<number> {
  const request = url.startsWith('https:')
    ? httpsRequest(`${url}${path}`, { method, agent: false, rejectUnauthorized: false })
    : httpRequest(`${url}${path}`, { method, agent: false });
  request.end();
  const [response] = await once(request, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
