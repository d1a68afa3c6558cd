import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Deployment, deployRelay } from './deployment.ts';
import { invokeFunction } from './invoke-function.ts';

/** What `cdk deploy -c stage=paper` makes: the relay, and behind it a paper exchange of its own. */
let deployment: Deployment;
let lambda: LambdaClient;

beforeAll(async () => {
  deployment = await deployRelay({ stage: 'paper', runSchedules: false });
  lambda = new LambdaClient(deployment.aws.clientOptions);
});
afterAll(async () => {
  lambda?.destroy();
  await deployment?.close();
});

const onPerpetual = { ticker: 'BTCUSDT.P', maxSlippage: '2%' };

/** Sends an alert, and reads what became of it and of its second leg. */
async function send(id: string, fields: object): Promise<Record<string, string>> {
  await deployment.relayJson(['send', '-'], JSON.stringify({ id, ...fields }));
  const settled = await deployment.settled(id);
  const last = settled.steps.at(-1);
  return { [settled.status]: last?.note ?? '' };
}

const reconcile = () => invokeFunction(lambda, 'Reconcile', {});

async function readPosition(): Promise<unknown> {
  return await deployment.relayJson(['positions', 'main']);
}

// The tests run in order: each one continues with the relay as the previous one left it.
describe('A stack on paper', () => {
  test('says so, and is ready without a key that somebody typed', async () => {
    const { stdout } = await deployment.relay(['signals']);
    const doctor = await deployment.relay(['doctor', '--json']);
    const amiss = (JSON.parse(doctor.stdout) as { checks: { name: string; verdict: string }[] }).checks
      .filter(({ verdict }) => verdict === 'fail')
      .map(({ name }) => name);

    expect(stdout).toContain('paper stack trading-relay-paper in us-east-1');
    expect(amiss).toEqual([]);
  });

  test('takes no key', async () => {
    const { exitCode, stderr } = await deployment.relay(['keys', 'set', 'main'], 'real-key\nreal-secret\n');

    expect(exitCode).toBe(1);
    expect(stderr).toContain('trades on a paper exchange that made its own keys');
  });

  test.each([
    [
      'limit',
      { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', orderType: 'limit', limitPrice: '55500' },
    ],
    ['stop-limit', { ticker: 'ETHUSDT', action: 'buy', quantity: '0.1', stopPrice: '3300' }],
    [
      'stop-market',
      { ticker: 'SOLUSDT', action: 'buy', quantity: '1', orderType: 'stop_market', stopPrice: '170' },
    ],
    ['market', { ...onPerpetual, action: 'buy', quantity: '0.01', orderType: 'market', stopLoss: '6%' }],
    ['spot', { ticker: 'DBTCDUSDT', action: 'buy', quoteQuantity: '500', orderType: 'market' }],
  ])('places a %s order', async (id, alert) => {
    expect(Object.keys(await send(id, alert))).toEqual(['placed']);
  });

  test('cancels an order by its signal, and all of a market', async () => {
    expect(await send('cancel-1', { ticker: 'BTCUSDT', action: 'cancel', signalId: 'limit' })).toEqual({
      cancelled: expect.any(String),
    });
    expect(await send('cancel-2', { ticker: 'ETHUSDT', action: 'cancel_all', scope: 'market' })).toEqual({
      cancelled: expect.any(String),
    });
  });

  test('protects, reverses, targets and closes the position', async () => {
    expect(await reconcile()).toBe(true);
    const protectedBy = await send('protect-1', {
      ...onPerpetual,
      maxSlippage: undefined,
      action: 'protect',
      stopLoss: '5%',
    });
    const reversed = await send('reverse-1', { ...onPerpetual, action: 'reverse' });
    await reconcile();
    const short = await readPosition();
    const targeted = await send('target-1', {
      ...onPerpetual,
      action: 'target',
      target: '0.02',
    });
    await reconcile();
    const long = await readPosition();
    const closed = await send('close-1', { ...onPerpetual, action: 'close' });
    await reconcile();

    expect(protectedBy).toEqual({ satisfied: expect.stringContaining('stop-loss at') });
    expect(reversed).toEqual({ placed: expect.any(String) });
    expect(short).toMatchObject({ positions: [{ market: 'BTC_PERP', amount: '-0.01' }] });
    expect(targeted).toEqual({ placed: expect.any(String) });
    expect(long).toMatchObject({ positions: [{ market: 'BTC_PERP', amount: '0.02' }] });
    expect(closed).toEqual({ placed: expect.any(String) });
    expect(await readPosition()).toMatchObject({ positions: [] });
  });

  test('has a known outcome for every alert', async () => {
    const { signals } = (await deployment.relayJson(['signals', '--limit', '100'])) as {
      signals: { signalId: string; status: string }[];
    };

    expect(signals.filter(({ status }) => !['placed', 'cancelled', 'satisfied'].includes(status))).toEqual(
      [],
    );
  });

  test('says what stays when it is removed, and removes nothing', async () => {
    const { parts, open } = (await deployment.relayJson(['uninstall'])) as {
      parts: { where: string; goesWithStack: boolean; remove: string | null }[];
      open: { account: string; reason: string | null }[];
    };
    const refused = await deployment.relay(['uninstall', '--delete', '--yes']);

    const { LedgerTable: ledger, SnapshotTable: snapshots } = deployment.outputs;
    const staying = parts.filter(({ goesWithStack }) => !goesWithStack);
    expect(staying.flatMap(({ remove }) => (remove === null ? [] : [remove]))).toEqual(
      [ledger, snapshots].map(
        (name) =>
          `aws dynamodb update-table --table-name ${name} --no-deletion-protection-enabled --region us-east-1 && aws dynamodb delete-table --table-name ${name} --region us-east-1`,
      ),
    );
    expect(parts).toContainEqual(
      expect.objectContaining({
        where: 'trading-relay-paper',
        goesWithStack: true,
        remove: 'aws cloudformation delete-stack --stack-name trading-relay-paper --region us-east-1',
      }),
    );
    expect(open.map(({ account, reason }) => [account, reason])).toEqual([
      ['main', null],
      ['second', null],
    ]);
    expect(refused.exitCode).toBe(2);
  });
});
