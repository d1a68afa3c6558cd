import { afterEach, describe, expect, test } from '@jest/globals';
import type { AwsAccess } from '../../lib/base/aws-client.ts';
import { createAwsSecrets, createSecretsClient } from '../../lib/host/aws-secrets.ts';
import type { SecretHolder } from '../../lib/host/secrets.ts';
import { openAccess } from '../support/aws-access.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { type ScriptedServer, type ScriptStep, startScriptedServer } from '../support/scripted-server.ts';

/** Responds as Secrets Manager does. */
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
let access: AwsAccess;

afterEach(async () => {
  access.transport.close();
  await server.close();
});

interface Opened {
  readonly secrets: SecretHolder;
  readonly clock: ManualClock;
}

async function open(...steps: readonly ScriptStep[]): Promise<Opened> {
  return await openFor({ main: 'id-of-main' }, ...steps);
}

async function openFor(
  webhookTokens: Readonly<Record<string, string>>,
  ...steps: readonly ScriptStep[]
): Promise<Opened> {
  server = await startScriptedServer(steps);
  access = openAccess(server.url, { maximumAttempts: 1 });
  const clock = createManualClock(0);
  return {
    clock,
    secrets: createAwsSecrets({
      client: createSecretsClient(access),
      clock,
      webhookTokens,
      exchangeKeys: {},
    }),
  };
}

describe('secrets in Secrets Manager', () => {
  test('are requested when the process starts, once for all callers that wait', async () => {
    const { secrets } = await open(holds(tokens(first)));
    await server.untilSeen(1);

    const answers = await Promise.all(Array.from({ length: 9 }, () => secrets.webhookTokens('main')));

    expect(answers.flat()).toEqual(Array(9).fill(first));
    expect(server.seen).toMatchObject([
      {
        body: '{"SecretId":"id-of-main"}',
        headers: {
          'content-type': 'application/x-amz-json-1.1',
          'x-amz-target': 'secretsmanager.GetSecretValue',
          authorization: expect.stringContaining('/eu-central-1/secretsmanager/aws4_request'),
        },
      },
    ]);
  });

  test('are cached for five minutes and not a millisecond longer', async () => {
    const { secrets, clock } = await open(holds(tokens(first)), holds(tokens(second)));
    await secrets.webhookTokens('main');
    clock.advance(299_999);
    expect(await secrets.webhookTokens('main')).toEqual([first]);
    clock.advance(1);
    expect(await secrets.webhookTokens('main')).toEqual([second]);
  });

  test('are cached no longer when the clock is set back', async () => {
    const { secrets, clock } = await open(holds(tokens(first)), holds(tokens(second)));
    await secrets.webhookTokens('main');

    clock.advance(-300_000);

    expect(await secrets.webhookTokens('main')).toEqual([second]);
  });

  test('age from the request on, so that a change during the request is not missed for longer', async () => {
    let clock: ManualClock | null = null;
    const slowResponse: ScriptStep = (response) => {
      clock?.advance(200_000);
      response.end(JSON.stringify({ SecretString: JSON.stringify(tokens(first)) }));
    };
    const opened = await open(slowResponse, holds(tokens(second)));
    clock = opened.clock;
    expect(await opened.secrets.webhookTokens('main')).toEqual([first]);
    clock.advance(99_999);
    expect(await opened.secrets.webhookTokens('main')).toEqual([first]);
    clock.advance(1);
    expect(await opened.secrets.webhookTokens('main')).toEqual([second]);
  });

  test('are requested at most every ten seconds, however many wrong tokens arrive', async () => {
    const { secrets, clock } = await open(holds(tokens(first)), holds(tokens(second)));
    await secrets.webhookTokens('main');
    clock.advance(9_999);
    for (let count = 0; count < 20; count += 1) await secrets.webhookTokens('main', 'newest');
    expect(server.seen).toHaveLength(1);
    clock.advance(1);
    expect(await secrets.webhookTokens('main', 'newest')).toEqual([second]);
  });

  test('are requested again after a failure, whose error names only the kind', async () => {
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

  test.each(['{"ARN":"a"}', '{"SecretString":null}', '{"SecretString":{}}', '[]', '', '<html>'])(
    'are neither read nor missed in the response %j',
    async (body) => {
      const { secrets } = await open({ status: 200, body }, holds(tokens(first)));
      await expect(secrets.webhookTokens('main')).rejects.toMatchObject({
        code: 'store_unavailable',
        message: 'the secret could not be read: UnreadableResponse',
      });
      expect(await secrets.webhookTokens('main')).toEqual([first]);
    },
  );

  test('cannot be read when KMS refuses, and the error names only the kind', async () => {
    const { secrets } = await open(fails('DecryptionFailure'));
    await expect(secrets.webhookTokens('main')).rejects.toMatchObject({
      code: 'store_unavailable',
      message: 'the secret could not be read: DecryptionFailure',
    });
  });

  test('are reported as missing when the secret was deleted', async () => {
    const { secrets } = await open(fails('ResourceNotFoundException'));
    await expect(secrets.webhookTokens('main')).rejects.toMatchObject({
      code: 'secrets_missing',
      message: 'the secret no longer exists; deploy again',
    });
  });

  test('are reported as missing also when a header alone names the failure', async () => {
    const { secrets } = await open({
      status: 400,
      body: '{"Message":"is gone"}',
      headers: { 'x-amzn-errortype': 'ResourceNotFoundException:http://internal.amazon.com/' },
    });
    await expect(secrets.webhookTokens('main')).rejects.toMatchObject({ code: 'secrets_missing' });
  });

  test.each([
    [400, 'ThrottlingException'],
    [500, 'InternalServiceError'],
  ])('are asked for again at once after HTTP %i with %s', async (status, __type) => {
    const failing = { status, body: JSON.stringify({ __type }) };
    const clock = createManualClock(0);
    server = await startScriptedServer([failing, failing, holds(tokens(first))]);
    access = openAccess(server.url, { clock });
    const client = createSecretsClient(access);
    const secrets = createAwsSecrets({ client, clock, webhookTokens: { main: 'id' }, exchangeKeys: {} });

    expect(await secrets.webhookTokens('main')).toEqual([first]);
    expect(server.seen).toHaveLength(3);
  });
});

describe('the list of all secrets of a process', () => {
  /** The order of the two requests is not fixed: the one that comes first gets the first response. */
  const two = { main: 'id-of-main', other: 'id-of-other' };
  const hangs: ScriptStep = () => undefined;

  test('has those requested at the start, without another request', async () => {
    const { secrets } = await openFor(two, holds(tokens(first)), holds(tokens(second)));
    await untilAnswered(secrets);

    const held = [await secrets.heldSecrets(), await secrets.heldSecrets()];

    expect(held.map((all) => [...all].sort())).toEqual([
      [first, second],
      [first, second],
    ]);
    expect(server.seen).toHaveLength(2);
  });

  test('has those that can be read; a deleted one does not hide the others and is not requested often', async () => {
    const { secrets, clock } = await openFor(
      two,
      holds(tokens(first)),
      fails('ResourceNotFoundException'),
      holds(tokens(second)),
    );
    await untilAnswered(secrets);
    const held = [await secrets.heldSecrets()];
    clock.advance(59_999);
    held.push(await secrets.heldSecrets());
    expect(server.seen).toHaveLength(2);
    clock.advance(1);
    void secrets.heldSecrets();
    await untilAnswered(secrets);
    held.push(await secrets.heldSecrets());

    expect(held.map((all) => [...all].sort())).toEqual([[first], [first], [first, second]]);
  });

  test('does not wait for a response that does not come', async () => {
    const { secrets, clock } = await openFor(two, holds(tokens(first)), hangs);
    await Promise.race([secrets.webhookTokens('main'), secrets.webhookTokens('other')]);

    expect(await secrets.heldSecrets()).toEqual([first]);
    expect(clock.sleptMs).toEqual([250]);
  });

  test('has the cached values while newer ones are requested', async () => {
    const { secrets, clock } = await openFor({ main: 'id-of-main' }, holds(tokens(first)), hangs);
    await secrets.webhookTokens('main');
    clock.advance(300_000);

    expect(await secrets.heldSecrets()).toEqual([first]);
    await server.untilSeen(2);
  });

  async function untilAnswered(secrets: SecretHolder): Promise<void> {
    await Promise.allSettled([secrets.webhookTokens('main'), secrets.webhookTokens('other')]);
  }
});
