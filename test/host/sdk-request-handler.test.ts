import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createTransport } from '../../lib/base/transport.ts';
import type { Transport } from '../../lib/base/wire.ts';
import { createSdkRequestHandler } from '../../lib/host/sdk-request-handler.ts';
import { type ScriptedServer, type ScriptStep, startScriptedServer } from '../support/scripted-server.ts';

const hangUp: ScriptStep = (response) => response.destroy();
const holds: ScriptStep = { status: 200, body: '{"SecretString":"kept"}' };

let server: ScriptedServer;
let transport: Transport;

async function open(...steps: readonly ScriptStep[]): Promise<SecretsManagerClient> {
  server = await startScriptedServer(steps);
  transport = createTransport();
  return new SecretsManagerClient({
    endpoint: server.url,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 3,
    requestHandler: createSdkRequestHandler(transport, { connectTimeoutMs: 10_000, timeoutMs: 20_000 }),
  });
}

afterEach(async () => {
  transport.close();
  await server.close();
});

const command = new GetSecretValueCommand({ SecretId: 'tokens' });

describe("an SDK client over the relay's transport", () => {
  test('sends its request, signed, and reads the response', async () => {
    const client = await open(holds);

    expect(await client.send(command)).toMatchObject({ SecretString: 'kept' });
    expect(server.seen).toMatchObject([
      {
        method: 'POST',
        path: '/',
        body: '{"SecretId":"tokens"}',
        headers: { 'x-amz-target': 'secretsmanager.GetSecretValue' },
      },
    ]);
    expect(server.seen[0]?.headers.authorization).toContain('/secretsmanager/aws4_request');
  });

  test('sends it again when the connection breaks', async () => {
    const client = await open(hangUp, holds);

    expect(await client.send(command)).toMatchObject({ SecretString: 'kept' });
    expect(server.seen).toHaveLength(2);
  });

  test('knows a refusal by the header that names it', async () => {
    const headers = { 'x-amzn-errortype': 'ResourceNotFoundException:http://internal.amazon.com/' };
    const client = await open({ status: 400, body: '{"Message":"is gone"}', headers });

    await expect(client.send(command)).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });
});
