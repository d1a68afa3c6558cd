import { InvokeCommand, LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Signal } from '../../lib/model/signal.ts';
import { type Deployment, deployRelay, type Resource, type Template } from './deployment.ts';
import { findResource } from './template-facts.ts';

/**
 * The same relay where each function may do only what its role grants.
 *
 * The emulator enforces the grants on the ledger, the queue and the secrets. It does not enforce who may read a queue
 * for a function, write its log, or call it, and it lets no address past a resource policy: alerts come in by `send`,
 * functions are called directly, and those grants are asserted on the template alone.
 */
let deployment: Deployment;
let lambda: LambdaClient;
let count = 0;

beforeAll(async () => {
  deployment = await deployRelay({ enforceRoles: true });
  lambda = new LambdaClient(deployment.aws.clientOptions);
  await deployment.relayJson(['keys', 'set', 'main'], 'paper-key\npaper-secret\n');
});

afterAll(async () => {
  lambda?.destroy();
  await deployment?.close();
});

const onBitcoin = { ticker: 'BTCUSDT', market: 'BTC_USDT', timeMs: null, maxLagMs: null };
const order: Signal = {
  ...onBitcoin,
  action: 'order',
  orderType: 'stop_limit',
  side: 'buy',
  size: { unit: 'stock', quantity: '0.01' },
  stopPrice: '61000',
  limitPrice: '61100',
};
const cancelAll: Signal = { ...onBitcoin, action: 'cancel_all' };

function nextId(): string {
  count += 1;
  return `story-${count}`;
}

/** Stores a signal past the door. */
async function store(signal: Signal, ageMs = 0): Promise<string> {
  const signalId = nextId();
  const clientOrderId = signal.action === 'order' ? `tr-${signalId}` : null;
  const atMs = Date.now() - ageMs;
  await deployment.ledger.accept(
    { account: 'main', signalId, signal, clientOrderId, fingerprint: signalId, atMs },
    null,
  );
  return signalId;
}

/** @returns whether it came to an answer */
async function invoke(name: StoryName, event: object): Promise<boolean> {
  const { Functions = [] } = await lambda.send(new ListFunctionsCommand({}));
  const FunctionName = Functions.map((each) => each.FunctionName ?? '').find((each) =>
    each.includes(`Relay${name}Function`),
  );
  const { FunctionError } = await lambda.send(
    new InvokeCommand({ FunctionName, Payload: JSON.stringify(event) }),
  );
  return FunctionError === undefined;
}

async function statusOf(signalId: string): Promise<string | undefined> {
  return (await deployment.ledger.read({ account: 'main', signalId }))?.status;
}

/** @returns the status of the signal once the executor was handed it */
async function execute(signal: Signal): Promise<string | undefined> {
  const signalId = await store(signal);
  const body = JSON.stringify({ account: 'main', signalId, market: 'BTC_USDT' });
  await invoke('Execute', {
    Records: [{ messageId: signalId, body, attributes: { MessageGroupId: 'main.BTC_USDT' } }],
  });
  return await statusOf(signalId);
}

/** What each function is for, told in one call of it; whether it came to its good end. */
const stories = {
  async Receive() {
    const body = JSON.stringify({ id: nextId(), ticker: 'BTCUSDT', action: 'cancel_all' });
    return (await deployment.relay(['send', '-'], body)).exitCode === 0;
  },
  Execute: async () => (await execute(order)) === 'placed' && (await execute(cancelAll)) === 'cancelled',
  async Reconcile() {
    const signalId = await store(order, 31_000);
    return (await invoke('Reconcile', {})) && (await deployment.settled(signalId)).status === 'placed';
  },
};
type StoryName = keyof typeof stories;

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** What stands in the policy of the function's role. */
function statementsOf(template: Template, name: StoryName): readonly Statement[] {
  const policy = findResource(template, 'AWS::IAM::Policy', `Relay${name}RoleDefaultPolicy`);
  const { Statement } = policy.Properties['PolicyDocument'] as { readonly Statement: readonly Statement[] };
  return Statement;
}

/**
 * The template without one action of one function; the function starts anew, and remembers nothing.
 *
 * @param action null takes nothing away
 */
function withoutGrant(template: Template, name: StoryName, action: string | null): Template {
  count += 1;
  const run = String(count);
  const change = (resource: Resource): Resource => {
    const { PolicyDocument, Environment } = resource.Properties as {
      readonly PolicyDocument?: object;
      readonly Environment?: { readonly Variables: object };
    };
    if (resource.Type === 'AWS::IAM::Policy')
      return withProperties(resource, {
        PolicyDocument: { ...PolicyDocument, Statement: withoutAction(statementsOf(template, name), action) },
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

function withoutAction(statements: readonly Statement[], action: string | null): readonly Statement[] {
  return statements
    .map((statement) => ({ ...statement, Action: [statement.Action].flat().filter((one) => one !== action) }))
    .filter(({ Action }) => Action.length > 0);
}

describe('With its roles enforced, a relay', () => {
  test('tells every story of its functions with the grants it has', async () => {
    expect(await stories.Receive()).toBe(true);
    expect(await stories.Execute()).toBe(true);
    expect(await stories.Reconcile()).toBe(true);
  });

  test('denies while it is paused, and goes on afterwards', async () => {
    await deployment.relayJson(['pause', 'main']);
    const paused = await execute(order);
    await deployment.relayJson(['resume', 'main']);

    expect(paused).toBe('denied');
    expect(await execute(order)).toBe('placed');
  });

  test('has no other grants than those, and those that the emulator does not enforce', () => {
    const template = deployment.readTemplate();
    const granted = (['Receive', 'Execute', 'Reconcile'] as const).map((name) =>
      statementsOf(template, name)
        .flatMap(({ Action }) => Action)
        .toSorted(),
    );

    expect(granted).toEqual([
      [
        'dynamodb:GetItem',
        'dynamodb:PutItem',
        'dynamodb:UpdateItem',
        'logs:CreateLogStream',
        'logs:PutLogEvents',
        'secretsmanager:GetSecretValue',
        'sqs:SendMessage',
      ],
      [
        'dynamodb:GetItem',
        'dynamodb:Query',
        'dynamodb:UpdateItem',
        'logs:CreateLogStream',
        'logs:PutLogEvents',
        'secretsmanager:GetSecretValue',
        'sqs:DeleteMessage',
        'sqs:GetQueueAttributes',
        'sqs:ReceiveMessage',
      ],
      [
        'dynamodb:BatchGetItem',
        'dynamodb:Query',
        'logs:CreateLogStream',
        'logs:PutLogEvents',
        'sqs:SendMessage',
        'sqs:SendMessage',
      ],
    ]);
  });
});

// Execute comes last: what it fails at waits in the queue, and would hold up the others' stories.
describe.each([
  ['Reconcile', ['dynamodb:Query', 'dynamodb:BatchGetItem', 'sqs:SendMessage']],
  [
    'Receive',
    [
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'sqs:SendMessage',
      'secretsmanager:GetSecretValue',
    ],
  ],
  ['Execute', ['dynamodb:GetItem', 'dynamodb:UpdateItem', 'dynamodb:Query', 'secretsmanager:GetSecretValue']],
] as const)('The function %s', (name, actions) => {
  test.each(actions)('fails at its story without the grant of %s', async (action) => {
    await deployment.redeploy((template) => withoutGrant(template, name, action));

    expect(await stories[name]()).toBe(false);
  });

  test('tells it again when every grant is given back', async () => {
    await deployment.redeploy((template) => withoutGrant(template, name, null));

    expect(await stories[name]()).toBe(true);
  });
});
