import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createAwsSecrets } from '../../lib/host/aws-secrets.ts';
import type { SecretStore } from '../../lib/host/secrets.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { type ScriptedServer, type ScriptStep, startScriptedServer } from '../support/scripted-server.ts';

/** Answers as Secrets Manager does. */
function holds(content: unknown): ScriptStep {
  return { status: 200, body: JSON.stringify({ SecretString: JSON.stringify(content) }) };
}

function fails(kind: string): ScriptStep {
  return {
    status: 400,
    body: JSON.stringify({ __type: kind, message: 'arn:aws:secretsmanager:eu-central-1:111122223333' }),
    headers: { 'x-amzn-errortype': kind },
  };
}

const tokens = (current: string) => ({ current, previous: null });
const first = 'first-token-0123456789';
const second = 'second-token-0123456789';

let server: ScriptedServer;
let client: SecretsManagerClient;

afterEach(async () => {
  client.destroy();
  await server.close();
});

async function open(...steps: readonly ScriptStep[]): Promise<{ secrets: SecretStore; clock: ManualClock }> {
  server = await startScriptedServer(steps);
  client = new SecretsManagerClient({
    endpoint: server.url,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
  const clock = createManualClock(0);
  return {
    clock,
    secrets: createAwsSecrets({ client, clock, webhookTokens: { main: 'id-of-main' }, exchangeKeys: {} }),
  };
}

describe('secrets kept by AWS', () => {
  test('are asked for as soon as the process starts, once for everybody who waits', async () => {
    const { secrets } = await open(holds(tokens(first)));
    await server.untilSeen(1);

    const answers = await Promise.all(Array.from({ length: 9 }, () => secrets.webhookTokens('main')));

    expect(answers.flat()).toEqual(Array(9).fill(first));
    expect(server.seen.map(({ body }) => JSON.parse(body))).toEqual([{ SecretId: 'id-of-main' }]);
  });

  test('are remembered for five minutes and not a millisecond longer', async () => {
    const { secrets, clock } = await open(holds(tokens(first)), holds(tokens(second)));
    await secrets.webhookTokens('main');
    clock.advance(299_999);
    expect(await secrets.webhookTokens('main')).toEqual([first]);
    clock.advance(1);
    expect(await secrets.webhookTokens('main')).toEqual([second]);
  });

  test('are not asked for more than every ten seconds, however many wrong tokens come', async () => {
    const { secrets, clock } = await open(holds(tokens(first)), holds(tokens(second)));
    await secrets.webhookTokens('main');
    clock.advance(9_999);
    for (let count = 0; count < 20; count += 1) await secrets.webhookTokens('main', 'newest');
    expect(server.seen).toHaveLength(1);
    clock.advance(1);
    expect(await secrets.webhookTokens('main', 'newest')).toEqual([second]);
  });

  test('are asked for again after a failure, which tells its kind alone', async () => {
    const { secrets } = await open(
      fails('InternalServiceError'),
      fails('AccessDeniedException'),
      holds(tokens(first)),
    );
    await server.untilSeen(1);
    await secrets.webhookTokens('main').catch(() => undefined);
    await expect(secrets.webhookTokens('main')).rejects.toMatchObject({
      code: 'store_unavailable',
      message: 'the secret could not be read: AccessDeniedException',
    });
    expect(await secrets.webhookTokens('main')).toEqual([first]);
  });

  test('are missing when the secret is gone', async () => {
    const { secrets } = await open(fails('ResourceNotFoundException'));
    await expect(secrets.webhookTokens('main')).rejects.toMatchObject({ code: 'secrets_missing' });
  });
});
