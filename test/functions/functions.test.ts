import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Bundles, bundleFunctions, type FunctionName } from '../../infra/aws/bundle.ts';
import { parseConfig } from '../../lib/host/config.ts';
import exampleConfig from '../../relay.config.example.ts';
import { queueEvent } from '../support/functions.ts';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';

const environment = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'a',
  AWS_SECRET_ACCESS_KEY: 'b',
  AWS_SESSION_TOKEN: 'c',
  LEDGER_TABLE: 'ledger',
  SNAPSHOT_TABLE: 'snapshots',
  WEBHOOK_TOKENS: '{"main":"id-of-tokens"}',
  EXCHANGE_KEYS: '{"main":"id-of-keys"}',
  STACK_NAME: 'relay-test',
  NOTICE_SECRET: 'id-of-channels',
} as const;

/** As the schedules of the stack have it; see `test/infra/requirements.ts`. */
const warmCall = { keepWarm: true };

const folder = mkdtempSync(join(tmpdir(), 'relay-functions-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a function that is not bundled holds no configuration, and does not start', async () => {
  await expect(import('../../functions/receive-signal.ts')).rejects.toMatchObject({ code: 'config_missing' });
});

/** The functions as Lambda loads them; every AWS request is denied. */
describe('the functions', () => {
  let aws: ScriptedServer;
  let bundles: Bundles;
  const handlerOf = (name: FunctionName) =>
    createRequire(import.meta.url)(join(bundles[name], 'index.js')).handler as (
      event: object,
    ) => Promise<Record<string, unknown>>;

  beforeAll(async () => {
    bundles = await bundleFunctions({ outputFolder: folder, config: parseConfig(exampleConfig) });
    const denied = {
      status: 400,
      body: '{"__type":"AccessDeniedException","message":"arn:aws:iam::111122223333:role/relay may not"}',
      headers: { 'x-amzn-errortype': 'AccessDeniedException' },
    };
    aws = await startScriptedServer(Array(200).fill(denied));
    const SIGNAL_QUEUE_URL = `${aws.url}/111122223333/signals.fifo`;
    Object.assign(process.env, environment, { AWS_ENDPOINT_URL: aws.url, SIGNAL_QUEUE_URL });
  });
  afterAll(() => aws.close());

  const alert = {
    httpMethod: 'POST',
    pathParameters: { account: 'main', token: 'a-token-of-this-test' },
    body: '{}',
    isBase64Encoded: false,
  };

  test('receive-signal takes POST only, and responds with a bare 503 when its store fails', async () => {
    const handler = handlerOf('receive-signal');
    expect(await handler({ ...alert, httpMethod: 'GET' })).toMatchObject({ statusCode: 405 });
    const { statusCode, body } = await handler(alert);
    expect(statusCode).toBe(503);
    expect(body).toContain('the secret could not be read: AccessDeniedException');
    expect(body).not.toContain('arn:');
  });

  test('receive-signal knows only the accounts of its configuration', async () => {
    const handler = handlerOf('receive-signal');
    const pathParameters = { ...alert.pathParameters, account: 'nobody' };
    expect(await handler({ ...alert, pathParameters })).toMatchObject({ statusCode: 401 });
  });

  test('execute-signal reports a message it could not handle, and has it delivered again in seconds', async () => {
    const handler = handlerOf('execute-signal');
    const body = '{"account":"main","signalId":"a","market":"BTC_USDT"}';
    expect(await handler(queueEvent('m-1', body))).toEqual({
      batchItemFailures: [{ itemIdentifier: 'm-1' }],
    });
    // Reads that were sent beside the one that failed first may arrive later.
    const postponed = aws.seen.find(({ body: sent }) => sent.includes('VisibilityTimeout'));
    expect(JSON.parse(postponed?.body ?? '')).toMatchObject({
      ReceiptHandle: 'receipt of m-1',
      VisibilityTimeout: 5,
    });
  });

  test.each(['receive-signal', 'execute-signal'] as const)(
    '%s does not fail at a call that keeps it warm, though it can read nothing',
    async (name) => {
      expect(await handlerOf(name)(warmCall)).toBeNull();
    },
  );

  test('reconcile-signals fails when its store does', async () => {
    const handler = handlerOf('reconcile-signals');
    await expect(handler({})).rejects.toMatchObject({
      message: 'the ledger could not be read: AccessDeniedException',
    });
  });

  test('send-notices fails at the heartbeat when its store does, and passes over what tells nobody anything', async () => {
    const handler = handlerOf('send-notices');
    await expect(handler({ slot: new Date().toISOString() })).rejects.toMatchObject({
      message: 'the ledger could not be read: AccessDeniedException',
    });
    const Keys = { account: { S: 'main' }, item: { S: 'fill#1' } };
    expect(
      await handler({ Records: [{ eventID: '1', dynamodb: { Keys, NewImage: Keys } }] }),
    ).toBeUndefined();
  });

  test.each(['snapshot-balances', 'snapshot-fees', 'import-interest'] as const)(
    '%s fails for every account when AWS fails, without quoting the AWS error',
    async (name) => {
      const failure = await handlerOf(name)({ slot: new Date().toISOString() }).catch(
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({ code: 'snapshot_incomplete' });
      expect(String(failure)).toContain('failed for 2 of 2 accounts');
      expect(String(failure)).not.toContain('arn:');
    },
  );
});
