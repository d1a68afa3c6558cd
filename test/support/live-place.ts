import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { createServer, type Server } from 'node:tls';
import { stripVTControlCharacters } from 'node:util';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { createFileSecrets, storeFileKeys } from '../../lib/host/file-secrets.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createSelfSignedCertificate } from './self-signed-certificate.ts';
import { testConfig } from './world.ts';

/** Long enough for any start; a start that spins is ended after it. */
const patienceMs = 60_000;

export const paperKeys = { apiKey: 'paper-key', apiSecret: 'paper-secret' };

/**
 * What `npm start -- --live` needs to run on this machine: an exchange at an https address, which is the paper exchange behind
 * TLS, with a certificate that only the processes started here trust, and a configuration that names it.
 */
export interface LivePlace {
  readonly folder: string;
  readonly data: string;
  readonly configPath: string;
  readonly certificatePath: string;
  readonly keyPath: string;
  readonly exchangeUrl: string;
  readonly paper: PaperExchange;
  readonly environment: Readonly<Record<string, string>>;
  /** Stores the key of the account `main`. The folder must have been started once. */
  storeKeys(): void;
  /** The path of the webhook of `main`, with its token. */
  readWebhookPath(): Promise<string>;
  /** Starts the relay, and resolves when it is ready or has ended. */
  start(args?: readonly string[], environment?: Readonly<Record<string, string>>): Promise<StartedRelay>;
  close(): Promise<void>;
}

export interface StartedRelay {
  readonly child: ChildProcess;
  /** What it printed until `ready`, or to its end. */
  readonly lines: readonly string[];
  readonly isReady: boolean;
  /** Resolves once it has printed a line with this text, be it before or after `ready`. */
  saw(text: string): Promise<void>;
  /** To be read after its end. */
  readonly complaint: Promise<string>;
  readonly exitCode: Promise<number | null>;
  stop(): Promise<number | null>;
}

export async function openLivePlace(): Promise<LivePlace> {
  const folder = mkdtempSync(join(tmpdir(), 'relay-live-'));
  const [certificatePath, keyPath] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const certificate = createSelfSignedCertificate();
  writeFileSync(certificatePath, certificate.cert);
  writeFileSync(keyPath, certificate.key, { mode: 0o600 });
  const paper = await startPaperExchange({ port: 0, dialect: 'live', walk: false });
  paper.control.setPrice('BTC_USDT', parseDecimal('50000'));
  const front = await startTlsFront(Number(new URL(paper.url).port), certificate);
  const exchangeUrl = `https://localhost:${(front.address() as AddressInfo).port}`;
  const configPath = join(folder, 'relay.config.ts');
  const { main, rehearsal } = testConfig.accounts;
  writeConfig(configPath, {
    ...testConfig,
    exchange: { address: exchangeUrl, dialect: 'live' },
    accounts: { main: { ...main, maxSlippage: '0.5%' }, rehearsal },
  });
  const data = join(folder, 'data');
  const { FORCE_COLOR: _, ...inherited } = process.env;
  const environment = {
    ...(inherited as Readonly<Record<string, string>>),
    NO_COLOR: '1',
    NODE_EXTRA_CA_CERTS: certificatePath,
    RELAY_CONFIG: configPath,
    RELAY_DATA: data,
    RELAY_PORT: '0',
  };
  const running = new Set<StartedRelay>();
  const secretsPath = join(data, 'secrets.json');
  return {
    folder,
    data,
    configPath,
    certificatePath,
    keyPath,
    exchangeUrl,
    paper,
    environment,
    storeKeys: () => storeFileKeys(secretsPath, 'main', paperKeys),
    async readWebhookPath() {
      const [token] = await createFileSecrets(secretsPath).webhookTokens('main');
      return `/signals/main/${token}`;
    },
    async start(args = ['--live'], more = {}) {
      const relay = await startRelay(args, { ...environment, ...more });
      running.add(relay);
      return relay;
    },
    async close() {
      await Promise.all([...running].map((relay) => relay.stop()));
      front.close();
      await paper.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export function writeConfig(path: string, config: object): void {
  writeFileSync(path, `export default ${JSON.stringify(config, null, 2)};\n`);
}

async function startTlsFront(port: number, certificate: { key: string; cert: string }): Promise<Server> {
  const front = createServer(certificate, (socket) => {
    const inner = connect(port, '127.0.0.1');
    for (const end of [socket, inner]) end.on('error', () => undefined);
    socket.on('close', () => inner.destroy());
    inner.on('close', () => socket.destroy());
    socket.pipe(inner).pipe(socket);
  });
  front.on('tlsClientError', () => undefined);
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  return front;
}

async function startRelay(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<StartedRelay> {
  const child = spawn(process.execPath, ['bin/run.cjs', 'infra/local/main.ts', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
    timeout: patienceMs,
    killSignal: 'SIGKILL',
  });
  const exitCode = once(child, 'exit').then(([code]) => code as number | null);
  const complaint = text(child.stderr);
  const lines: string[] = [];
  const printed = new EventEmitter().setMaxListeners(0);
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => {
    lines.push(stripVTControlCharacters(line));
    printed.emit('line');
  });
  reader.on('close', () => printed.emit('line'));
  while (!lines.includes('ready') && !child.stdout.readableEnded) await once(printed, 'line');
  return {
    child,
    lines: [...lines],
    isReady: lines.includes('ready'),
    async saw(text) {
      while (!lines.some((line) => line.includes(text))) await once(printed, 'line');
    },
    complaint,
    exitCode,
    stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      return exitCode;
    },
  };
}
