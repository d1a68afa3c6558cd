import {
  DeleteEventSourceMappingCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type Message, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createDynamodbClient } from '../../lib/base/dynamodb.ts';
import { createDynamodbMarketCopies } from '../../lib/ledger/dynamodb-market-copies.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { placesOrder, type Signal } from '../../lib/model/signal.ts';
import { unlessMoved } from '../../lib/relay/settle/settle-entry.ts';
import { fingerprintOf } from '../../lib/signals/identity.ts';
import { collect } from '../snapshots/snapshots-contract.ts';
import { acceptOne } from '../support/accept-one.ts';
import { type Deployment, deployRelay, type Resource, type Template } from './deployment.ts';
import { invokeFunction } from './invoke-function.ts';
import { findResource } from './template-facts.ts';
import { waitUntil } from './wait-until.ts';

/**
 * The same relay where each function may do only what its role grants.
 *
 * The emulator enforces the grants on the ledger, the queue and the secrets. It does not enforce who may read a queue
 * for a function, write its log, or call it, and it lets no address past a resource policy: alerts come in by `send`,
 * functions are called directly, and those grants are asserted on the template alone.
 *
 * No schedule runs. A run of the reconciler enqueues what waits, and Lambda would deliver it while a test has the executor
 * handle the same market: on AWS two deliveries of one market never overlap.
 */
let deployment: Deployment;
let lambda: LambdaClient;
let secrets: SecretsManagerClient;
let count = 0;
let slots = 0;

beforeAll(async () => {
  deployment = await deployRelay({ enforceRoles: true, runSchedules: false, tells: true });
  lambda = new LambdaClient(deployment.aws.clientOptions);
  secrets = new SecretsManagerClient(deployment.aws.clientOptions);
  for (const account of ['main', 'second'])
    await deployment.relayJson(['keys', 'set', account], 'paper-key\npaper-secret\n');
  await deployment.relayJson(['notify', 'set', 'ntfy'], JSON.stringify(deployment.standIn.ways.ntfy));
});

afterAll(async () => {
  lambda?.destroy();
  secrets?.destroy();
  await deployment?.close();
});

const onBitcoin = { ticker: 'BTCUSDT', market: 'BTC_USDT', timeMs: null, maxLagMs: null };
const order: Signal = {
  ...onBitcoin,
  action: 'order',
  orderType: 'stop_limit',
  side: 'buy',
  size: { unit: 'base', quantity: '0.01' },
  stopPrice: '61000',
  limitPrice: '61100',
};
/** In a market without other orders, so that the position is that of this entry. */
const onPerpetual = { ticker: 'BTCUSDT.P', market: 'BTC_PERP', timeMs: null, maxLagMs: null };
const enter: Signal = {
  ...onPerpetual,
  action: 'order',
  orderType: 'market',
  side: 'buy',
  size: { unit: 'base', quantity: '0.01' },
  maxSlippage: '1%',
  stopLoss: '5%',
};
const close: Signal = { ...onPerpetual, action: 'close', maxSlippage: '1%' };
const cancelAll: Signal = { ...onBitcoin, action: 'cancel_all' };
/**
 * In a market without other signals: there, only the queue leads to the executor. Of another kind than `order`: it may be
 * sent while a fault waits for one of those.
 */
const aside: Signal = {
  action: 'order',
  orderType: 'limit',
  ticker: 'SOLUSDT',
  market: 'SOL_USDT',
  timeMs: null,
  maxLagMs: null,
  side: 'buy',
  size: { unit: 'base', quantity: '1' },
  limitPrice: '140',
};
/** Of a market without a position. */
const closeNothing: Signal = { ...close, ticker: 'ETHUSDT', market: 'ETH_USDT' };
/** Of a market that has no order. */
const cancelNothing: Signal = { ...cancelAll, ticker: 'ETHUSDT', market: 'ETH_USDT' };

const payment = { planId: 'plan', investmentId: 'investment', ticker: 'USDT', amount: '0.25' };

function nextId(): string {
  count += 1;
  return `task-${count}`;
}

/** Stores a signal without the webhook. */
async function store(signal: Signal, ageMs = 0, signalId = nextId(), fingerprint = signalId) {
  const clientOrderId = placesOrder(signal) ? `tr-${signalId}` : null;
  const atMs = Date.now() - ageMs;
  const entry = { account: 'main', signalId, signal, clientOrderId, fingerprint, atMs };
  await acceptOne(deployment.ledger, entry, null);
  return signalId;
}

/** Stores a signal as it is after a worker sent it and lost the response. */
async function storeUnknown(signal: Signal): Promise<string> {
  const signalId = await store(signal);
  const key = { account: 'main', signalId };
  const step = { atMs: Date.now(), note: '' };
  await deployment.ledger.start(key, { ...step, status: 'sending' }, null);
  await deployment.ledger.move(key, { from: 'sending', step: { ...step, status: 'unknown' } });
  return signalId;
}

/** @returns whether it came to a response */
function invoke(name: HandlerName, event: object): Promise<boolean> {
  return invokeFunction(lambda, name, event);
}

async function read(signalId: string): Promise<Entry | null> {
  return await deployment.ledger.read({ account: 'main', signalId });
}

/** A function did not do what it is for. */
class TaskFailure extends Error {}

/** @throws TaskFailure with the reason */
function requireThat(isDone: boolean, otherwise: string): void {
  if (!isDone) throw new TaskFailure(otherwise);
}

/** @throws TaskFailure with what became of the signal instead */
async function requireStatus(signalId: string, wanted: Status): Promise<void> {
  const { status, signal, steps = [] } = (await read(signalId)) ?? {};
  const seen = `${signalId} (${signal?.action} of ${signal?.market}) is ${status}: ${steps.at(-1)?.note}`;
  requireThat(status === wanted, `${seen}; expected: ${wanted}`);
}

/** Delivers the signal to the executor. @throws TaskFailure unless it comes to that status */
async function execute(signal: Signal, wanted: Status): Promise<void> {
  await requireStatus(await deliverToExecutor(await store(signal)), wanted);
}

async function deliverToExecutor(signalId: string): Promise<string> {
  const { market = '' } = (await read(signalId))?.signal ?? {};
  const body = JSON.stringify({ account: 'main', signalId, market });
  await invoke('Execute', {
    Records: [{ messageId: signalId, body, attributes: { MessageGroupId: `main.${market}` } }],
  });
  return signalId;
}

/** @returns the signal of an order that the exchange took, in a response that was lost */
async function loseResponse(): Promise<string> {
  const signalId = await store(order);
  deployment.paper.control.addFault({ fault: 'drop_after', endpoint: 'stop-limit', count: 1 });
  return await deliverToExecutor(signalId);
}

/** @returns the signal of a close that the exchange carried out, in a response that was lost */
async function loseClose(): Promise<string> {
  await execute(enter, 'placed');
  const signalId = await store(close);
  deployment.paper.control.addFault({ fault: 'drop_after', endpoint: 'limit', count: 1 });
  return await deliverToExecutor(signalId);
}

function openOnPerpetual(): number {
  return deployment.paper.control
    .state()
    .orders.filter(({ market, status }) => market === 'BTC_PERP' && status === 'open').length;
}

/**
 * Has the webhook accept an alert of those signals, and waits for what becomes of them: what is left in the queue would be
 * delivered while another task is at the same market.
 *
 * @throws TaskFailure with what the webhook said
 */
async function send(body: string, signalIds: readonly string[]): Promise<void> {
  const { exitCode, stdout, stderr } = await deployment.relay(['send', '-'], body);
  requireThat(exitCode === 0, `the webhook did not accept ${body}: ${stdout}${stderr}`);
  for (const signalId of signalIds) {
    await deployment.settled(signalId);
    await requireStatus(signalId, 'cancelled');
  }
}

/** Has the webhook recognise a signal that was stored seconds ago, although its time is too old by now. */
async function sendLate(): Promise<void> {
  const signalId = nextId();
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const body = JSON.stringify({
    id: signalId,
    ticker: 'ETHUSDT',
    action: 'cancel_all',
    time: minutesAgo(20),
  });
  await store(cancelNothing, 10_000, signalId, fingerprintOf(Buffer.from(body)));
  await send(body, [signalId]);
}

/** @throws TaskFailure unless the signal's order is known by the id that the exchange gave it */
async function requireNamed(signalId: string): Promise<void> {
  const { orderId } = (await read(signalId)) ?? {};
  const found = await deployment.ledger.findOrder('main', 'BTC_USDT', orderId ?? 0);
  requireThat(
    found?.signalId === signalId,
    `order ${orderId} is known as that of ${found?.signalId}, not of ${signalId}`,
  );
}

/** Everything that each function is for. @throws TaskFailure from the first part of it that fails */
const tasks = {
  async Receive() {
    const alert = () => ({ id: nextId(), ticker: 'BTCUSDT', action: 'cancel_all' });
    for (const alerts of [[alert()], [alert(), alert()]])
      await send(
        JSON.stringify(alerts.length === 1 ? alerts[0] : alerts),
        alerts.map(({ id }) => id),
      );
    await sendLate();
  },
  async Execute() {
    const placed = await deliverToExecutor(await store(order));
    await requireStatus(placed, 'placed');
    await requireNamed(placed);
    await execute(cancelAll, 'cancelled');
    await execute(closeNothing, 'satisfied');
  },
  async Reconcile() {
    const leftBehind = await store(aside, 31_000);
    const lost = await loseResponse();
    await requireStatus(lost, 'unknown');
    const lostCancel = await storeUnknown({
      ...onBitcoin,
      action: 'cancel',
      target: { by: 'signalId', signalId: lost },
    });
    const lostCancelAll = await storeUnknown(cancelNothing);
    requireThat(await invoke('Reconcile', {}), 'the run failed');
    await deployment.settled(leftBehind);
    await requireStatus(leftBehind, 'placed');
    await requireStatus(lost, 'placed');
    await requireNamed(lost);
    const { lookup } = (await read(lostCancel)) ?? {};
    requireThat(
      lookup?.finding === 'the order is still open',
      `the lookup of ${lostCancel} found: ${lookup?.finding}`,
    );
    await requireStatus(lostCancelAll, 'cancelled');
  },
  async SnapshotsBalances() {
    // Each a minute later than the one before, and near enough to the clock to be taken for one of the schedule.
    const slotMs = (Math.floor(Date.now() / 60_000) + ++slots) * 60_000;
    requireThat(
      await invoke('SnapshotsBalances', { slot: new Date(slotMs).toISOString() }),
      'the run failed',
    );
    const found = await deployment.snapshots.balances.readAt('main', slotMs);
    requireThat(found?.slotMs === slotMs, `the newest balances are of ${found?.slotMs}, not of ${slotMs}`);
  },
  async SnapshotsFees() {
    const fixed = `0.${++count}`;
    deployment.paper.control.setFee('BTC', { withdraw: { fixed } });
    requireThat(await invoke('SnapshotsFees', {}), 'the run failed');
    const versions = await collect(deployment.snapshots.fees.list('main', 'BTC'));
    const stored = versions.at(-1)?.fees?.withdraw.fixed.toFixed();
    requireThat(stored === fixed, `the newest fee is ${stored}, not ${fixed}`);
  },
  async SnapshotsInterest() {
    const timestamp = Math.floor(Date.now() / 1000) + ++count;
    deployment.paper.control.payInterest('main', { ...payment, timestamp });
    requireThat(await invoke('SnapshotsInterest', {}), 'the run failed');
    const second = { fromMs: timestamp * 1000, untilMs: timestamp * 1000 + 1 };
    const found = await collect(deployment.snapshots.interest.list('main', second));
    requireThat(found.length === 1, `${found.length} payments of that second are stored, not one`);
  },
  async NoticesSend() {
    const text = `of run ${++count}`;
    const item = { account: { S: 'main' }, item: { S: `alarm#${count}` } };
    const NewImage = {
      ...item,
      name: { S: 'unknown_word' },
      message: { S: text },
      facts: { S: '{"account":"main"}' },
      atMs: { N: String(Date.now()) },
    };
    const ApproximateCreationDateTime = Math.floor(Date.now() / 1000);
    const record = { eventID: text, dynamodb: { Keys: item, NewImage, ApproximateCreationDateTime } };
    // By hand, so that the function itself makes it known to those that receive alerts.
    const ways = {
      ...deployment.standIn.ways,
      discord: { url: `https://discord.invalid/api/webhooks/${count}` },
    };
    const SecretString = JSON.stringify(ways);
    await secrets.send(
      new PutSecretValueCommand({ SecretId: deployment.outputs['NoticeSecret'], SecretString }),
    );
    requireThat(await invoke('NoticesSend', { Records: [record] }), 'the records were not told');
    const shown = deployment.standIn.shown.ntfy.filter((notice) => notice.text.includes(text));
    requireThat(shown.length === 1, `the notice was shown ${shown.length} times, not once`);
    requireThat(await invoke('NoticesSend', { slot: new Date().toISOString() }), 'the heartbeat failed');
  },
};
type HandlerName = keyof typeof tasks;

/** Has a function do its task. @returns null, or what failed of it, with the failures that functions logged meanwhile */
async function findFailure(name: HandlerName): Promise<string | null> {
  const { length } = deployment.aws.readLog();
  try {
    await tasks[name]();
    return null;
  } catch (error) {
    if (!(error instanceof TaskFailure)) throw error;
    const readLogged = async () =>
      deployment.aws
        .readLog()
        .slice(length)
        .split('\n')
        .filter((line) => /^\{"level":"(?:WARN|ERROR)"/.test(line));
    // The emulator writes what a function has logged after it has answered.
    const logged = await waitUntil('the log of a failed task', readLogged, (lines) => lines.length > 0);
    return [error.message, ...logged].join('\n');
  }
}

/** What a task that failed leaves waiting would be executed together with the signals of the next one. */
async function denyWaiting(): Promise<void> {
  const { entries } = await deployment.ledger.list({ status: 'accepted', limit: 100 });
  const step = { status: 'denied' as const, atMs: Date.now(), note: 'left by a task that failed' };
  // Lambda may be delivering what the failed run enqueued.
  for (const entry of entries)
    await unlessMoved(() => deployment.ledger.move(entry, { from: 'accepted', step }));
}

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** What stands in the policy of the function's role. */
function statementsOf(template: Template, name: HandlerName): readonly Statement[] {
  const policy = findResource(template, 'AWS::IAM::Policy', `Relay${name}RoleDefaultPolicy`);
  const { Statement } = policy.Properties['PolicyDocument'] as { readonly Statement: readonly Statement[] };
  return Statement;
}

/** An action on a resource whose name has that part; on any, where there is none. */
type Grant = readonly [action: string, resource?: string];

/**
 * The template without one grant of one function; the function starts anew, and remembers nothing.
 *
 * @param grant null takes nothing away
 */
function withoutGrant(template: Template, name: HandlerName, grant: Grant | null): Template {
  count += 1;
  const run = String(count);
  const change = (resource: Resource): Resource => {
    const { PolicyDocument, Environment } = resource.Properties as {
      readonly PolicyDocument?: object;
      readonly Environment?: { readonly Variables: object };
    };
    if (resource.Type === 'AWS::IAM::Policy')
      return withProperties(resource, {
        PolicyDocument: { ...PolicyDocument, Statement: takeAway(grant, statementsOf(template, name)) },
      });
    return withProperties(resource, {
      Environment: { Variables: { ...Environment?.Variables, RUN: run } },
    });
  };
  const isTouched = (id: string) =>
    id.startsWith(`Relay${name}RoleDefaultPolicy`) || id.startsWith(`Relay${name}Function`);
  return {
    ...template,
    Resources: Object.fromEntries(
      Object.entries(template.Resources).map(([id, resource]) => [
        id,
        isTouched(id) ? change(resource) : resource,
      ]),
    ),
  };
}

function withProperties(resource: Resource, properties: object): Resource {
  return { ...resource, Properties: { ...resource.Properties, ...properties } };
}

function takeAway(grant: Grant | null, statements: readonly Statement[]): readonly Statement[] {
  if (grant === null) return statements;
  const [action, part = ''] = grant;
  return statements
    .map((statement) => ({
      ...statement,
      Action: [statement.Action]
        .flat()
        .filter((one) => one !== action || !JSON.stringify(statement.Resource).includes(part)),
    }))
    .filter(({ Action }) => Action.length > 0);
}

describe('With its roles enforced, a relay', () => {
  test('can do every task of its functions with its grants', async () => {
    for (const name of Object.keys(tasks) as HandlerName[]) expect(await findFailure(name)).toBeNull();
  });

  test('closes a position, and ends the exits of a close whose response was lost', async () => {
    await execute(enter, 'placed');
    await execute(close, 'placed');
    expect(openOnPerpetual()).toBe(0);

    const lost = await loseClose();
    await requireStatus(lost, 'unknown');
    await invoke('Reconcile', {});

    await requireStatus(lost, 'placed');
    expect(openOnPerpetual()).toBe(0);
  });

  test('keeps a copy of the market list for the next cold start', async () => {
    const client = createDynamodbClient(deployment.aws.access);
    const tableName = deployment.outputs['LedgerTable'] ?? '';
    const copies = createDynamodbMarketCopies({ client, tableName, exchange: deployment.paper.url });

    const kept = await waitUntil(
      'the copy of the market list',
      () => copies.load(),
      (copy) => copy !== null,
    );

    expect(kept?.markets.map(({ name }) => name).toSorted()).toEqual([
      'BTC_PERP',
      'BTC_USDT',
      'DBTC_DUSDT',
      'ETH_USDT',
      'SOL_USDT',
    ]);
  });

  test('denies while it is paused, and goes on afterwards', async () => {
    await deployment.relayJson(['pause', 'main']);
    const paused = await deliverToExecutor(await store(order));
    await deployment.relayJson(['resume', 'main']);

    expect((await read(paused))?.status).toBe('denied');
    await execute(order, 'placed');
  });

  test('has no other grants than those, and those that the emulator does not enforce', () => {
    const template = deployment.readTemplate();
    const granted = (Object.keys(tasks) as HandlerName[]).map((name) =>
      statementsOf(template, name)
        .flatMap(({ Action }) => Action)
        .toSorted(),
    );

    expect(granted).toEqual([
      [
        'dynamodb:BatchGetItem',
        'dynamodb:GetItem',
        'dynamodb:PutItem',
        'dynamodb:UpdateItem',
        'logs:CreateLogStream',
        'logs:PutLogEvents',
        'secretsmanager:GetSecretValue',
        'sqs:SendMessage',
      ],
      [
        'dynamodb:BatchGetItem',
        'dynamodb:GetItem',
        'dynamodb:PutItem',
        // Waiting and followed signals of an account; its newest signals; its fills.
        'dynamodb:Query',
        'dynamodb:Query',
        'dynamodb:Query',
        'dynamodb:UpdateItem',
        'logs:CreateLogStream',
        'logs:PutLogEvents',
        'secretsmanager:GetSecretValue',
        'sqs:ChangeMessageVisibility',
        'sqs:DeleteMessage',
        'sqs:GetQueueAttributes',
        'sqs:ReceiveMessage',
        'sqs:SendMessage',
      ],
      [
        'dynamodb:BatchGetItem',
        'dynamodb:GetItem',
        'dynamodb:PutItem',
        'dynamodb:Query',
        'dynamodb:Query',
        'dynamodb:Query',
        'dynamodb:Query',
        'dynamodb:Query',
        'dynamodb:UpdateItem',
        'logs:CreateLogStream',
        'logs:PutLogEvents',
        'secretsmanager:GetSecretValue',
        'sqs:SendMessage',
        'sqs:SendMessage',
      ],
      [
        'dynamodb:PutItem',
        'dynamodb:Query',
        'logs:CreateLogStream',
        'logs:PutLogEvents',
        'secretsmanager:GetSecretValue',
        'sqs:SendMessage',
      ],
      [
        'dynamodb:PutItem',
        'dynamodb:Query',
        'logs:CreateLogStream',
        'logs:PutLogEvents',
        'secretsmanager:GetSecretValue',
        'sqs:SendMessage',
      ],
      [
        'dynamodb:GetItem',
        // Of payments; of alarms in the ledger.
        'dynamodb:PutItem',
        'dynamodb:PutItem',
        'dynamodb:Query',
        'logs:CreateLogStream',
        'logs:PutLogEvents',
        'secretsmanager:GetSecretValue',
        'sqs:SendMessage',
      ],
      [
        'dynamodb:BatchGetItem',
        'dynamodb:DescribeStream',
        'dynamodb:GetItem',
        'dynamodb:GetRecords',
        'dynamodb:GetShardIterator',
        'dynamodb:ListStreams',
        'dynamodb:PutItem',
        // Fills; the signals of an account; those whose outcome is unknown.
        'dynamodb:Query',
        'dynamodb:Query',
        'dynamodb:Query',
        // Fingerprints.
        'dynamodb:UpdateItem',
        'logs:CreateLogStream',
        'logs:PutLogEvents',
        'secretsmanager:GetSecretValue',
        'sns:Publish',
        'sqs:SendMessage',
        'sqs:SendMessage',
      ],
    ]);
  });
});

describe.each([
  ['SnapshotsBalances', [['dynamodb:Query'], ['dynamodb:PutItem'], ['secretsmanager:GetSecretValue']]],
  ['SnapshotsFees', [['dynamodb:Query'], ['dynamodb:PutItem'], ['secretsmanager:GetSecretValue']]],
  [
    'SnapshotsInterest',
    [['dynamodb:GetItem'], ['dynamodb:Query'], ['dynamodb:PutItem'], ['secretsmanager:GetSecretValue']],
  ],
  [
    'NoticesSend',
    [
      ['dynamodb:GetItem'],
      ['dynamodb:PutItem'],
      ['dynamodb:UpdateItem'],
      ['dynamodb:BatchGetItem'],
      ['dynamodb:Query', '/index/by-account'],
      ['dynamodb:Query', '/index/by-status'],
      ['secretsmanager:GetSecretValue'],
      ['sns:Publish'],
    ],
  ],
  [
    'Reconcile',
    [
      ['dynamodb:Query', '/index/by-status'],
      ['dynamodb:Query', '/index/by-look'],
      ['dynamodb:Query', '/index/open-orders'],
      ['dynamodb:GetItem'],
      ['dynamodb:BatchGetItem'],
      ['dynamodb:UpdateItem'],
      ['sqs:SendMessage', 'RelaySignalsQueue'],
      ['secretsmanager:GetSecretValue'],
    ],
  ],
  [
    'Receive',
    [
      ['dynamodb:GetItem'],
      ['dynamodb:BatchGetItem'],
      ['dynamodb:PutItem'],
      ['dynamodb:UpdateItem'],
      ['sqs:SendMessage'],
      ['secretsmanager:GetSecretValue'],
    ],
  ],
  [
    'Execute',
    [
      ['dynamodb:GetItem'],
      ['dynamodb:UpdateItem'],
      ['dynamodb:BatchGetItem'],
      ['dynamodb:Query', '/index/open-orders'],
      ['dynamodb:Query', '/index/by-account'],
      ['secretsmanager:GetSecretValue'],
    ],
  ],
] as const satisfies readonly (readonly [HandlerName, readonly Grant[]])[])(
  'The function %s',
  (name, grants) => {
    const named = grants.map((grant) => [grant.join(' on '), grant] as const);

    test.each(named)('fails at its task without the grant of %s', async (_, grant) => {
      await deployment.redeploy((template) => withoutGrant(template, name, grant));

      expect(await findFailure(name)).toMatch(/AccessDenied|AuthorizationError/);
      await denyWaiting();
    });

    test('succeeds again when every grant is given back', async () => {
      await deployment.redeploy((template) => withoutGrant(template, name, null));

      expect(await findFailure(name)).toBeNull();
    });
  },
);

/** Last of all, because Lambda delivers no signals any more: the test reads the queue in its place. */
describe('A message that the executor could not handle', () => {
  let sqs: SQSClient;
  const QueueUrl = () => deployment.outputs['SignalQueue'] ?? '';

  beforeAll(async () => {
    sqs = new SQSClient(deployment.aws.clientOptions);
    const { EventSourceMappings = [] } = await lambda.send(new ListEventSourceMappingsCommand({}));
    for (const { UUID } of EventSourceMappings)
      await lambda.send(new DeleteEventSourceMappingCommand({ UUID }));
  });
  afterAll(() => sqs.destroy());

  /** The message with that body, past those that earlier tests left behind. */
  async function receive(body: string, withinSeconds: number): Promise<Message | undefined> {
    const giveUpAtMs = Date.now() + withinSeconds * 1000;
    do {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: QueueUrl(),
          MaxNumberOfMessages: 10,
          WaitTimeSeconds: 1,
          MessageSystemAttributeNames: ['ApproximateReceiveCount'],
        }),
      );
      const found = Messages.find(({ Body }) => Body === body);
      if (found !== undefined) return found;
    } while (Date.now() < giveUpAtMs);
    return undefined;
  }

  /** Has the executor fail at a message of a market of its own. @returns how often it was delivered when it came again in time */
  async function failOnce(market: string): Promise<string | undefined> {
    const signalId = nextId();
    const body = JSON.stringify({ account: 'main', signalId, market });
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: QueueUrl(),
        MessageBody: body,
        MessageGroupId: market,
        MessageDeduplicationId: signalId,
      }),
    );
    const { ReceiptHandle, Attributes } = (await receive(body, 10)) ?? {};
    const attributes = { MessageGroupId: market, ...Attributes };
    await invoke('Execute', {
      Records: [{ messageId: signalId, receiptHandle: ReceiptHandle, body, attributes }],
    });
    return (await receive(body, 8))?.Attributes?.ApproximateReceiveCount;
  }

  test('comes again in five seconds, while the queue by itself would keep it for three minutes', async () => {
    expect(await failOnce('BTC_USDT')).toBe('2');
  });

  test('does not without the grant of sqs:ChangeMessageVisibility', async () => {
    await deployment.redeploy((template) =>
      withoutGrant(template, 'Execute', ['sqs:ChangeMessageVisibility']),
    );

    expect(await failOnce('ETH_USDT')).toBeUndefined();
  });
});
