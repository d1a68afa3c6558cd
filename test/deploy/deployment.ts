import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  CloudFormationClient,
  DescribeStacksCommand,
  UpdateStackCommand,
} from '@aws-sdk/client-cloudformation';
import { createDynamodbClient } from '../../lib/base/dynamodb.ts';
import type { RelayConfig } from '../../lib/host/config.ts';
import { isPaperStage } from '../../lib/host/paper-stage.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import type { Entry, EntryKey } from '../../lib/ledger/entry.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createDynamodbSnapshots } from '../../lib/snapshots/dynamodb-snapshots.ts';
import type { SnapshotStore } from '../../lib/snapshots/snapshot-store.ts';
import { type StandIn, startStandIn } from '../notices/stand-in.ts';
import { type MiniStack, startMiniStack } from './ministack.ts';
import { openPaperDoor } from './paper-door.ts';
import { type Finished, runProcess, runToSuccess } from './run-process.ts';
import { waitUntil } from './wait-until.ts';

/** A CloudFormation template as far as it is looked at. */
export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}

export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
}

/** The project's CDK app, deployed to an AWS of this machine and trading on a paper exchange of this process. */
export interface Deployment {
  readonly aws: MiniStack;
  readonly paper: PaperExchange;
  /** Where the notices go. */
  readonly standIn: StandIn;
  readonly ledger: Ledger;
  readonly snapshots: SnapshotStore;
  /** The folder of the cloud assembly, and the template in it. */
  readonly assembly: string;
  readonly templatePath: string;
  readTemplate(): Template;
  readonly outputs: Readonly<Record<string, string>>;
  /** Runs the operator's tool against the stack, as a process of its own. */
  relay(args: readonly string[], input?: string): Promise<Finished>;
  /** The document of a run that went well. */
  relayJson(args: readonly string[], input?: string): Promise<unknown>;
  /** The account's webhook, at the emulator's address. */
  readWebhook(account: string): Promise<string>;
  /** The entry, once nothing more will happen to it by itself. */
  settled(
    signalId: string,
    options?: { readonly account?: string; readonly timeoutMs?: number },
  ): Promise<Entry>;
  /** Brings the stack to its template again, with changes; alarms and dashboard go. */
  redeploy(change: (template: Template) => Template): Promise<void>;
  destroy(): Promise<void>;
  close(): Promise<void>;
}

export interface Posted {
  readonly status: number;
  readonly body: unknown;
}

const projectRoot = resolve(import.meta.dirname, '..', '..');
const cdkPath = join(projectRoot, 'node_modules', 'aws-cdk', 'bin', 'cdk');
const cliPath = join(projectRoot, 'cli', 'main.ts');
const usualStage = 'test';

function configFor(
  exchangeUrl: string,
  { snapshots, maxOrdersOfSecond = 2, tells = false }: DeploymentOptions,
): RelayConfig {
  return {
    exchange: { address: exchangeUrl, dialect: 'live' },
    tickers: {
      BTCUSDT: 'BTC_USDT',
      ETHUSDT: 'ETH_USDT',
      SOLUSDT: 'SOL_USDT',
      DBTCDUSDT: 'DBTC_DUSDT',
      'BTCUSDT.P': 'BTC_PERP',
    },
    // A signal left behind is found by the next run of the schedule, and must still be fresh then.
    maxLagSeconds: 600,
    accounts: {
      main: {
        mode: 'live',
        limitOffset: '0.1%',
        // A market order is guarded by the maxSlippage of its alert, if that has one.
        allowUnguardedMarket: true,
        markets: {
          BTC_USDT: { tradesOn: 'margin' },
          ETH_USDT: { tradesOn: 'margin' },
          SOL_USDT: { tradesOn: 'margin' },
          DBTC_DUSDT: { tradesOn: 'spot' },
          BTC_PERP: { tradesOn: 'futures' },
        },
        maxOrdersPerMinute: 100,
        maxSignalsPerMinute: 200,
      },
      second: {
        mode: 'live',
        limitOffset: '0.1%',
        maxSlippage: '0.5%',
        markets: { BTC_USDT: { tradesOn: 'margin' } },
        maxOrdersPerMinute: maxOrdersOfSecond,
      },
    },
    snapshots,
    ...(tells ? { notices: { channels: ['ntfy', 'email'], tell: { heartbeat: 'on' } } } : {}),
    aws: { allowedAddresses: ['203.0.113.0/24'], alarmEmail: 'owner@relay.example', keepLedgerDays: 30 },
  };
}

export interface DeploymentOptions {
  readonly enforceRoles?: boolean;
  /** False: no schedule calls a function; only the test does. */
  readonly runSchedules?: boolean;
  /** The default is that of the project's configuration: by the hour, and by the day. */
  readonly snapshots?: RelayConfig['snapshots'];
  /** The limit of orders per minute of the account `second`. */
  readonly maxOrdersOfSecond?: number;
  /**
   * Whether it tells notices. The emulator delivers to one function at a time, so while a channel is waited for, no signal is
   * executed; on AWS they are apart.
   */
  readonly tells?: boolean;
  /** A paper stage trades on a paper exchange of its own, and its configuration names a real one. */
  readonly stage?: string;
}

/** @throws Error with what the failing program said */
export async function deployRelay(options: DeploymentOptions = {}): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), 'relay-deploy-'));
  const paper = await startPaperExchange({ port: 0, dialect: 'live', walk: false });
  const standIn = await startStandIn();
  const { stage = usualStage } = options;
  const stackName = `trading-relay-${stage}`;
  const paperDoor = isPaperStage(stage) ? await openPaperDoor() : null;
  const aws = await startMiniStack({ enforceRoles: options.enforceRoles ?? false });
  const assembly = join(folder, 'cdk.out');
  const configPath = join(folder, 'relay.config.ts');
  const cdk = (cwd: string, ...args: readonly string[]) =>
    runToSuccess(process.execPath, [cdkPath, ...args], { env: aws.env, cwd });
  const runRelay = (args: readonly string[], input = '') =>
    runProcess(
      process.execPath,
      [cliPath, '--stack', stackName, '--region', aws.region, '--config', configPath, ...args],
      { env: aws.env, input },
    );

  async function close(): Promise<void> {
    await aws.close();
    await paper.close();
    await standIn.close();
    await paperDoor?.close();
    await rm(folder, { recursive: true, force: true });
  }

  async function deploy(from: string): Promise<Readonly<Record<string, string>>> {
    const outputsPath = join(folder, 'outputs.json');
    await cdk(folder, 'deploy', '--app', from, '--require-approval', 'never', '--outputs-file', outputsPath);
    return JSON.parse(readFileSync(outputsPath, 'utf8'))[stackName];
  }

  try {
    const exchange = paperDoor === null ? paper.url : 'https://exchange.invalid';
    await writeFile(configPath, `export default ${JSON.stringify(configFor(exchange, options))};\n`);
    // From an empty folder: in the project's, bootstrapping would synthesise, and bundle nothing.
    await mkdir(join(folder, 'empty'));
    await cdk(join(folder, 'empty'), 'bootstrap', `aws://${aws.accountId}/${aws.region}`);
    await cdk(
      projectRoot,
      'synth',
      '--quiet',
      '-o',
      assembly,
      '-c',
      `stage=${stage}`,
      '-c',
      `config=${configPath}`,
    );
    const templatePath = join(assembly, `${stackName}.template.json`);
    if (paperDoor !== null) await leadThrough(paperDoor.url, templatePath);
    const outputs = await deploy(assembly);
    paperDoor?.leadTo(emulatedFunctionUrl(aws, outputs['PaperUrl'] ?? ''));
    const readTemplate = () => JSON.parse(readFileSync(templatePath, 'utf8')) as Template;
    const { runSchedules = true } = options;
    const leftOut = runSchedules ? onlookers : [...onlookers, 'AWS::Scheduler::Schedule'];
    const redeploy: Deployment['redeploy'] = (change) =>
      updateStack(aws, stackName, leaveOut(change(readTemplate()), leftOut));
    if (!runSchedules && paperDoor === null) await redeploy((template) => template);
    const ledger = createDynamodbLedger({
      client: createDynamodbClient(aws.access),
      tableName: outputs['LedgerTable'] ?? '',
      keepDays: 30,
    });
    const snapshots = createDynamodbSnapshots({
      client: createDynamodbClient(aws.access),
      tableName: outputs['SnapshotTable'] ?? '',
    });
    const relayJson = async (args: readonly string[], input?: string): Promise<unknown> => {
      const { exitCode, stdout, stderr } = await runRelay([...args, '--json'], input);
      if (exitCode !== 0) throw new Error(`relay ${args.join(' ')} ended with ${exitCode}: ${stderr}`);
      return JSON.parse(stdout);
    };
    return {
      aws,
      paper,
      standIn,
      assembly,
      templatePath,
      readTemplate,
      outputs,
      ledger,
      snapshots,
      relay: runRelay,
      relayJson,
      async readWebhook(account) {
        const { url } = (await relayJson(['webhook', account])) as { readonly url: string };
        return emulatedUrl(aws, url);
      },
      settled: (signalId, { account = 'main', timeoutMs = 30_000 } = {}) =>
        untilSettled(ledger, { account, signalId }, timeoutMs),
      redeploy,
      async destroy() {
        await cdk(folder, 'destroy', '--app', assembly, '--force', stackName);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What shows how the relay is, and has no say in what it does. */
const onlookers = ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard', 'AWS::Logs::MetricFilter'];

/** Without its notes and the onlookers the template needs no bucket. */
function leaveOut(template: Template, types: readonly string[]): Template {
  const Resources = Object.fromEntries(
    Object.entries(template.Resources)
      .filter(([, { Type }]) => !types.includes(Type))
      .map(([id, resource]) => [id, { ...resource, Metadata: undefined }]),
  );
  return { ...template, Resources };
}

/** Past the CDK, which would take seconds more. */
async function updateStack(aws: MiniStack, stackName: string, template: Template): Promise<void> {
  const client = new CloudFormationClient(aws.clientOptions);
  await client.send(
    new UpdateStackCommand({
      StackName: stackName,
      TemplateBody: JSON.stringify(template),
      Capabilities: ['CAPABILITY_IAM'],
    }),
  );
  const status = await waitUntil(
    'the end of the update',
    async () => {
      const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: stackName }));
      return Stacks?.[0]?.StackStatus ?? '';
    },
    (found) => !found.endsWith('IN_PROGRESS'),
    60_000,
  );
  client.destroy();
  if (status !== 'UPDATE_COMPLETE') throw new Error(`the stack could not be updated: ${status}`);
}

/** The host of the stack's output leads to AWS; the emulator has the same API under a path of its own. */
function emulatedUrl(aws: MiniStack, url: string): string {
  const { hostname, pathname } = new URL(url);
  return `${aws.url}/_aws/execute-api/${hostname.split('.')[0]}${pathname}`;
}

function emulatedFunctionUrl(aws: MiniStack, url: string): string {
  return `${aws.url}/_aws/lambda-url/${new URL(url).hostname.split('.')[0]}`;
}

/** The URL of a function leads to AWS, so everything that would use it uses this one of this machine. No schedule runs. */
async function leadThrough(url: string, templatePath: string): Promise<void> {
  const text = readFileSync(templatePath, 'utf8');
  const { PaperExchange } = JSON.parse(text).Outputs;
  const own = JSON.stringify(PaperExchange.Value);
  const led = JSON.parse(JSON.stringify(JSON.parse(text)).replaceAll(own, JSON.stringify(url)));
  const Outputs = { ...led.Outputs, PaperUrl: PaperExchange };
  await writeFile(templatePath, JSON.stringify({ ...leaveOut(led, ['AWS::Scheduler::Schedule']), Outputs }));
}

/** Posts an alert as TradingView does. */
export async function post(url: string, body: string): Promise<Posted> {
  const sent = request(url, { method: 'POST', headers: { 'content-type': 'text/plain; charset=utf-8' } });
  sent.end(body);
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, body: JSON.parse(await text(response)) };
}

const transientStatuses: readonly Status[] = ['accepted', 'sending'];

async function untilSettled(ledger: Ledger, key: EntryKey, timeoutMs: number): Promise<Entry> {
  const entry = await waitUntil(
    `the outcome of ${key.signalId}`,
    () => ledger.read(key),
    (found) => found !== null && !transientStatuses.includes(found.status),
    timeoutMs,
  );
  if (entry === null) throw new Error('it was found and is not there');
  return entry;
}
