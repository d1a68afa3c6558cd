import { createHash, createHmac } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  type AwsAccess,
  type AwsClient,
  type AwsService,
  createAwsClient,
} from '../../lib/base/aws-client.ts';
import type { WireRequest } from '../../lib/base/wire.ts';
import { openAccess } from '../support/aws-access.ts';
import {
  type ScriptedServer,
  type ScriptStep,
  type SeenRequest,
  startScriptedServer,
} from '../support/scripted-server.ts';

const noonMs = Date.UTC(2026, 10, 22, 12);
const secretAccessKey = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const hangUp: ScriptStep = (response) => response.destroy();
const answers = (content: object): ScriptStep => ({ status: 200, body: JSON.stringify(content) });
const fails = (status: number, kind: string): ScriptStep => ({
  status,
  body: JSON.stringify({
    __type: `com.amazonaws.dynamodb.v20120810#${kind}`,
    message: 'of arn:aws:dynamodb',
  }),
});

const service: AwsService = {
  name: 'dynamodb',
  target: 'DynamoDB_20120810',
  protocol: '1.0',
  promises: {
    GetItem: { field: 'Item', type: 'record', isDue: () => false },
    GetSecretValue: { field: 'SecretString', type: 'text' },
    Query: { field: 'Items', type: 'list' },
    UpdateItem: { field: 'Attributes', type: 'record', isDue: (input) => 'ReturnValues' in input },
    DeleteMessage: null,
  },
};

let server: ScriptedServer;
let access: AwsAccess;
const pausesMs: number[] = [];

async function open(steps: readonly ScriptStep[], options: Partial<AwsAccess> = {}): Promise<AwsClient> {
  server = await startScriptedServer(steps);
  access = openAccess(server.url, {
    clock: {
      nowMs: () => noonMs,
      sleep: async (durationMs) => {
        pausesMs.push(durationMs);
      },
    },
    random: () => 0.5,
    credentials: async () => ({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey, sessionToken: 'of the role' }),
    ...options,
  });
  return createAwsClient(service, access);
}

afterEach(async () => {
  pausesMs.length = 0;
  access.transport.close();
  await server.close();
});

/**
 * The signature of a request as AWS computes it from what arrived.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
function sign({ method, path, headers, body }: SeenRequest): string {
  const names = Object.keys(headers)
    .filter((name) => name === 'host' || name === 'content-type' || name.startsWith('x-amz-'))
    .sort();
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const canonical = [
    method,
    path,
    '',
    ...names.map((name) => `${name}:${String(headers[name])}`),
    '',
    names.join(';'),
    sha256(body),
  ].join('\n');
  const scope = '20261122/eu-central-1/dynamodb/aws4_request';
  const key = scope
    .split('/')
    .reduce<string | Buffer>(
      (secret, part) => createHmac('sha256', secret).update(part).digest(),
      `AWS4${secretAccessKey}`,
    );
  const text = ['AWS4-HMAC-SHA256', '20261122T120000Z', scope, sha256(canonical)].join('\n');
  const signature = createHmac('sha256', key).update(text).digest('hex');
  return `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
}

test('a request carries the operation, the session token, and a signature over all of it', async () => {
  const client = await open([answers({ Item: { price: { N: '1' } } })]);

  const result = await client.call('GetItem', { TableName: 'ledger' });

  expect(result).toEqual({ Item: { price: { N: '1' } } });
  const [seen] = server.seen;
  expect(seen).toMatchObject({
    method: 'POST',
    path: '/',
    body: '{"TableName":"ledger"}',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'DynamoDB_20120810.GetItem',
      'x-amz-date': '20261122T120000Z',
      'x-amz-security-token': 'of the role',
    },
  });
  expect(seen?.headers.authorization).toBe(seen && sign(seen));
});

test('an operation without output is an empty result', async () => {
  const client = await open([{ status: 200, body: '' }]);

  expect(await client.call('DeleteMessage', {})).toEqual({});
});

describe('an answer that proves nothing is asked for again:', () => {
  test.each([
    ['an empty one', 'GetItem', ''],
    ['a page of a proxy', 'GetItem', '<html>'],
    ['a list', 'GetItem', '[]'],
    ['null', 'GetItem', 'null'],
    ['one without what the operation promises', 'Query', '{"Count":0}'],
    ['one with nothing in its place', 'Query', '{"Items":null}'],
    ['one with a record in place of a list', 'Query', '{"Items":{}}'],
    ['one with a number in place of a text', 'GetSecretValue', '{"SecretString":1}'],
    ['one whose item, which may be missing, is nothing', 'GetItem', '{"Item":null}'],
    ['one whose item is a list', 'GetItem', '{"Item":[]}'],
    ['one to a write that has no output', 'PutItem', '<html>'],
    ['one to a write that may be empty', 'DeleteMessage', '<html>'],
  ])('%s', async (_, operation, body) => {
    const whole = { Items: [], SecretString: '' };
    const client = await open([{ status: 200, body }, answers(whole)]);

    expect(await client.call(operation, { of: 'a' })).toEqual(whole);
    expect(pausesMs).toEqual([50]);
    expect(server.seen.map((request) => request.body)).toEqual(['{"of":"a"}', '{"of":"a"}']);
  });

  test('one without what this request asked for', async () => {
    const client = await open([answers({}), answers({}), answers({ Attributes: {} })]);

    expect(await client.call('UpdateItem', {})).toEqual({});
    expect(await client.call('UpdateItem', { ReturnValues: 'ALL_NEW' })).toEqual({ Attributes: {} });
    expect(pausesMs).toEqual([50]);
  });

  test('three times at most', async () => {
    const client = await open(Array(3).fill({ status: 200, body: '{}' }));

    await expect(client.call('Query', {})).rejects.toMatchObject({ name: 'UnreadableResponse' });
    expect(server.seen).toHaveLength(3);
  });
});

describe('a request is sent again, after a random pause that grows,', () => {
  test.each([
    ['when the connection breaks', hangUp, [50, 100]],
    ['when the service fails', fails(500, 'InternalServerError'), [50, 100]],
    ['when a proxy before it fails', { status: 503, body: '<html>' }, [50, 100]],
    ['when it is throttled', fails(400, 'ProvisionedThroughputExceededException'), [250, 500]],
    [
      'when a transaction with its token is in progress',
      fails(400, 'TransactionInProgressException'),
      [250, 500],
    ],
  ] as const)('%s', async (_, failure, pauses) => {
    const client = await open([failure, failure, answers({ done: true })]);

    expect(await client.call('PutItem', {})).toEqual({ done: true });

    expect(pausesMs).toEqual(pauses);
    expect(server.seen.map(({ body }) => body)).toEqual(['{}', '{}', '{}']);
  });

  test('but three times at most', async () => {
    const client = await open([hangUp, hangUp, fails(500, 'InternalServerError'), answers({})]);

    await expect(client.call('PutItem', {})).rejects.toMatchObject({ name: 'InternalServerError' });
    expect(server.seen).toHaveLength(3);
  });

  test('and with the credentials of that moment', async () => {
    const keys = ['first', 'second'].values();
    const client = await open([hangUp, answers({})], {
      credentials: async () => ({ accessKeyId: keys.next().value ?? '', secretAccessKey }),
    });

    await client.call('PutItem', {});

    expect(
      server.seen.map(({ headers }) => /Credential=(\w+)/.exec(headers.authorization ?? '')?.[1]),
    ).toEqual(['first', 'second']);
    expect(server.seen[0]?.headers).not.toHaveProperty('x-amz-security-token');
  });
});

describe('a refusal is not sent again, and says', () => {
  test.each(['com.amazonaws.dynamodb.v20120810#ValidationException', 'ValidationException'])(
    'its name, written as %s, and the rest of its body',
    async (__type) => {
      const body = JSON.stringify({ __type, Message: 'is not valid', Item: { a: { S: 'b' } } });
      const client = await open([{ status: 400, body }]);

      await expect(client.call('PutItem', {})).rejects.toMatchObject({
        name: 'ValidationException',
        message: 'is not valid',
        content: { Item: { a: { S: 'b' } } },
      });
      expect(server.seen).toHaveLength(1);
    },
  );

  test.each([
    ['in a header', '{"Message":"is gone"}', 'ResourceNotFoundException:http://internal.amazon.com/'],
    ['as a code', '{"code":"ResourceNotFoundException"}', 'OtherException'],
    ['with more behind it', '{"__type":"a.b#ResourceNotFoundException:http://a,b"}', 'OtherException'],
    ['in a header of a page', '<html>', 'ResourceNotFoundException'],
  ])('its name, written %s', async (_, body, header) => {
    const client = await open([{ status: 400, body, headers: { 'x-amzn-errortype': header } }]);

    await expect(client.call('GetSecretValue', {})).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
    expect(server.seen).toHaveLength(1);
  });

  test('its status when it names nothing', async () => {
    const client = await open([{ status: 413, body: 'too large' }]);

    await expect(client.call('PutItem', {})).rejects.toMatchObject({ name: 'Http413', message: '' });
  });
});

test('a service that does not respond is asked three times, each for as long, and fails without a response', async () => {
  const times: unknown[] = [];
  const transport = {
    async send({ connectTimeoutMs, timeoutMs }: WireRequest) {
      times.push([connectTimeoutMs, timeoutMs]);
      return { kind: 'ambiguous', reason: 'no response within 50 ms' } as const;
    },
    close() {},
  };
  const client = await open([], { transport, connectTimeoutMs: 20, timeoutMs: 50 });

  await expect(client.call('PutItem', {})).rejects.toMatchObject({
    name: 'NoResponse',
    message: 'no response within 50 ms',
  });
  expect(times).toEqual(Array(3).fill([20, 50]));
});

test.each([
  ['eu-central-1', 'https://dynamodb.eu-central-1.amazonaws.com'],
  ['cn-north-1', 'https://dynamodb.cn-north-1.amazonaws.com.cn'],
  ['eusc-de-east-1', 'https://dynamodb.eusc-de-east-1.amazonaws.eu'],
])('the address of a service in %s is %s', async (region, address) => {
  const asked: string[] = [];
  const transport = {
    async send({ baseUrl }: WireRequest) {
      asked.push(baseUrl);
      return { kind: 'answered', status: 200, body: '{}' } as const;
    },
    close() {},
  };
  await open([]);
  const client = createAwsClient(service, { ...access, transport, region, endpoint: undefined });

  await client.call('GetItem', {});

  expect(asked).toEqual([address]);
});
