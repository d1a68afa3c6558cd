import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createDynamodbClient } from '../../lib/base/dynamodb.ts';
import { createDynamodbAccountFacts } from '../../lib/ledger/dynamodb-account-facts.ts';
import { type CountingProxy, startCountingProxy } from './counting-proxy.ts';
import { type Deployment, deployRelay, post, type Template } from './deployment.ts';
import { invokeFunction } from './invoke-function.ts';
import { propertiesOf } from './template-facts.ts';
import { waitUntil } from './wait-until.ts';

let deployment: Deployment;
let receiving: CountingProxy;
let executing: CountingProxy;
let lambda: LambdaClient;
let starts = 0;

beforeAll(async () => {
  deployment = await deployRelay({
    snapshots: { balances: null, fees: null, interest: null },
    runSchedules: false,
    maxOrdersOfSecond: mostOrders,
  });
  for (const [account, keys] of [
    ['main', 'paper-key\npaper-secret\n'],
    ['second', 'paper-key-2\npaper-secret-2\n'],
  ] as const) {
    await deployment.relayJson(['keys', 'set', account], keys);
    // The emulator's first token may hold a slash.
    await deployment.relayJson(['token', 'rotate', account]);
  }
  receiving = await startCountingProxy(deployment.aws.url);
  executing = await startCountingProxy(deployment.aws.url);
  lambda = new LambdaClient(deployment.aws.clientOptions);
  await startAnew();
});

afterAll(async () => {
  lambda?.destroy();
  await deployment?.close();
  await receiving?.close();
  await executing?.close();
});

/** Replaces the process of each function, as a deployment does. */
async function startAnew(): Promise<void> {
  starts += 1;
  await deployment.redeploy((template) =>
    callThrough(template, { RelayReceiveFunction: receiving.url, RelayExecuteFunction: executing.url }),
  );
}

/** Calls both functions as the schedules of the stack do every three minutes. */
async function keepWarm(): Promise<void> {
  const template = deployment.readTemplate();
  for (const name of ['Receive', 'Execute']) {
    const schedule = propertiesOf(template, 'AWS::Scheduler::Schedule', `RelayKeepWarm${name}`);
    const { Target } = schedule as { readonly Target: { readonly Input: string } };
    const event = JSON.parse(Target.Input) as object;
    if (!(await invokeFunction(lambda, name, event))) throw new Error(`${name} could not be kept warm`);
  }
}

/** Notes that this release has been kept warm for long. */
async function noteWarmForLong(): Promise<void> {
  const { Environment } = propertiesOf(
    deployment.readTemplate(),
    'AWS::Lambda::Function',
    'RelayExecuteFunction',
  ) as { readonly Environment: { readonly Variables: { readonly RELEASE: string } } };
  const facts = createDynamodbAccountFacts({
    client: createDynamodbClient(deployment.aws.access),
    tableName: deployment.outputs['LedgerTable'] ?? '',
  });
  await facts.write('main', 'kept warm', { release: Environment.Variables.RELEASE, sinceMs: 0 });
}

/** The template with another address of AWS in the environments of functions, by the beginnings of their ids. */
function callThrough(template: Template, addresses: Readonly<Record<string, string>>): Template {
  const resources = Object.entries(template.Resources).map(([id, resource]) => {
    const [, address] = Object.entries(addresses).find(([name]) => id.startsWith(name)) ?? [];
    if (address === undefined || resource.Type !== 'AWS::Lambda::Function') return [id, resource] as const;
    const { Environment } = resource.Properties as {
      readonly Environment: { readonly Variables: Readonly<Record<string, unknown>> };
    };
    // Another value is another version of the function.
    const Variables = { ...Environment.Variables, AWS_ENDPOINT_URL: address, STARTS: String(starts) };
    return [id, { ...resource, Properties: { ...resource.Properties, Environment: { Variables } } }] as const;
  });
  return { ...template, Resources: Object.fromEntries(resources) };
}

/**
 * Sends an alert and waits for its order.
 *
 * @returns what each function asked of AWS, and how long the signal took from its arrival to its outcome
 * @throws Error with what was asked for and what became of the signal, when nothing was placed or fewer requests came
 */
async function countRequests(account: string, id: string, operationsInAll: number) {
  receiving.reset();
  executing.reset();
  const webhook = await deployment.readWebhook(account);
  const order = { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', stopPrice: '61000' };
  await post(webhook, JSON.stringify({ id, ...order }));
  const { status, steps, createdAtMs, updatedAtMs, orderId } = await deployment.settled(id, { account });
  const outcome = `${id} is ${status}: ${steps.at(-1)?.note}`;
  const count = () => ({
    receiving: receiving.operations.toSorted(),
    executing: executing.operations.toSorted(),
  });
  // Another outcome costs other requests.
  if (status !== 'placed') throw new Error(`${outcome}; asked for: ${JSON.stringify(count())}`);
  // What follows the outcome comes after the status that shows it, and last of all what makes the order known by its id.
  const { requests } = await waitUntil(
    `the last of ${operationsInAll} requests (${outcome})`,
    async () => ({
      isNamed: (await deployment.ledger.findOrder(account, 'BTC_USDT', orderId ?? 0)) !== null,
      requests: count(),
    }),
    ({ isNamed, requests: { receiving: received, executing: executed } }) =>
      isNamed && received.length + executed.length >= operationsInAll,
  );
  return { requests, tookMs: updatedAtMs - createdAtMs };
}

/** For so long, what the executor has read of a pause holds, and no request to AWS is sent again for want of an answer. */
const unhurriedMs = 1000;
const mostOrders = 20;

/**
 * Counts the requests of an order that is not the first of its account: the first finds no counts of signals and orders
 * yet, which takes further requests. An order that this machine holds up may take further ones, too: then another one is
 * sent.
 *
 * @param operations how many requests each takes in all; the first of all orders also reads secrets and the market list
 */
async function countLater(account: string, operations: { readonly first: number; readonly later: number }) {
  await countRequests(account, `first-of-${account}`, operations.first);
  for (let number = 2; ; number += 1) {
    const id = `order-${number}-of-${account}`;
    const { requests, tookMs } = await countRequests(account, id, operations.later);
    if (tookMs <= unhurriedMs || number === mostOrders) return requests;
  }
}

/** The requests of an order whose account has a limit of orders alone. */
const nine = {
  // One read of what recognises the keys of all accounts in an alert.
  receiving: ['BatchGetItem', 'PutItem', 'SendMessage'],
  // The query and the read side by side, then the order's place in the minute, and `sending`; the order is sent;
  // then its outcome, and the id that the exchange gave it.
  executing: ['GetItem', 'Query', 'UpdateItem', 'UpdateItem', 'UpdateItem', 'UpdateItem'],
};

test('The first order of functions that nothing has called before meets a cold start of both, and the relay says so', async () => {
  await noteWarmForLong();

  const { requests } = await countRequests('second', 'cold', 22);

  expect(requests.receiving).toContain('GetSecretValue');
  expect(requests.executing).toContain('GetSecretValue');
  const line = await waitUntil(
    'the alarm',
    async () => deployment.aws.readLog().match(/^.*"alarmName":"cold_start".*$/m)?.[0] ?? '',
    (found) => found !== '',
  );
  expect(line).toContain('a cold start of receive-signal and of execute-signal');
  expect(line).toContain('"signalId":"cold"');
});

describe('An order by functions that have run before costs', () => {
  test('nine requests to AWS when the account has a limit of orders alone', async () => {
    expect(await countLater('second', { first: 9, later: 9 })).toEqual(nine);
  });

  test('one more when it has a limit of signals, too', async () => {
    expect(await countLater('main', { first: 14, later: 10 })).toEqual({
      receiving: ['BatchGetItem', 'PutItem', 'SendMessage', 'UpdateItem'],
      executing: ['GetItem', 'Query', 'UpdateItem', 'UpdateItem', 'UpdateItem', 'UpdateItem'],
    });
  });
});

test('An order by functions that have only been kept warm costs the same nine: no alert meets a cold start', async () => {
  for (let number = 1; ; number += 1) {
    await startAnew();
    await keepWarm();
    const { requests, tookMs } = await countRequests('second', `kept-warm-${number}`, 9);
    if (tookMs > unhurriedMs && number < mostOrders) continue;
    expect(requests).toEqual(nine);
    return;
  }
});
