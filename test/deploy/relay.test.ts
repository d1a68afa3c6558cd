import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, DescribeAlarmsCommand, SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch';
import { DescribeTableCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { ListSecretsCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  GetQueueAttributesCommand,
  ListQueuesCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { OrderSignal } from '../../lib/model/signal.ts';
import { interestPaymentRecords } from '../../lib/paper/engine/accounts.ts';
import type { BalanceSnapshot, Holdings, Period } from '../../lib/snapshots/snapshot-store.ts';
import { collect } from '../snapshots/snapshots-contract.ts';
import { acceptOne } from '../support/accept-one.ts';
import { type Deployment, deployRelay, post } from './deployment.ts';
import { invokeFunction } from './invoke-function.ts';
import { installPythonTools } from './python-tools.ts';
import { plainEnvironment, runProcess } from './run-process.ts';
import { findResource, propertiesOf } from './template-facts.ts';
import { waitUntil } from './wait-until.ts';

const startedAtMs = Date.now();
let deployment: Deployment;
let sqs: SQSClient;
let lambda: LambdaClient;
/** Of the account main. */
let webhook: string;

// The tests run in order: each one continues with the relay as the previous one left it.
beforeAll(async () => {
  const everyMinute = 'cron(* * * * ? *)';
  deployment = await deployRelay({
    snapshots: {
      timeZone: 'Europe/Kyiv',
      balances: everyMinute,
      fees: everyMinute,
      interest: everyMinute,
    },
  });
  sqs = new SQSClient(deployment.aws.clientOptions);
  lambda = new LambdaClient(deployment.aws.clientOptions);
});

afterAll(async () => {
  sqs?.destroy();
  lambda?.destroy();
  await deployment?.close();
});

/** A stop-limit order on the far side of the paper exchange's price. */
function alert(id: string, changes: Record<string, unknown> = {}): string {
  const order = { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', stopPrice: '61000' };
  return JSON.stringify({ id, ...order, ...changes });
}
/** The first key of `main` and its secret, as the exchange gives them out. */
const replacedKey = ['f00dfacef00dfacef00dfacef00dface', '0ddba11c0ddba11c0ddba11c0ddba11c'];
const onEth = { ticker: 'ETHUSDT', stopPrice: '3100', quantity: '0.1' };
const onSol = { ticker: 'SOLUSDT', stopPrice: '160', quantity: '1' };

/** The client order ids of the orders the exchange was given, in the order they came. */
function ordersOf(market: string): readonly string[] {
  return deployment.paper.control
    .state()
    .orders.filter((order) => order.market === market)
    .toSorted((one, other) => one.orderId - other.orderId)
    .map(({ clientOrderId }) => clientOrderId);
}

/** The entry of the account main, once it is as it will be: the schedule runs each minute. */
async function waitForEntry(signalId: string, will: (entry: Entry) => boolean): Promise<Entry> {
  const entry = await waitUntil(
    `what becomes of ${signalId}`,
    () => deployment.ledger.read({ account: 'main', signalId }),
    (found) => found !== null && will(found),
    100_000,
  );
  if (entry === null) throw new Error('it was found and is not there');
  return entry;
}

async function clientOrderIdsOf(signalIds: readonly string[]): Promise<readonly (string | null)[]> {
  const entries = await Promise.all(signalIds.map((signalId) => deployment.settled(signalId)));
  return entries.map(({ clientOrderId }) => clientOrderId);
}

const queueUrl = () => deployment.outputs['SignalQueue'] ?? '';
const deadLetterUrl = () => deployment.outputs['DeadLetterQueue'] ?? '';

async function countMessages(url: string): Promise<number> {
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['ApproximateNumberOfMessages'] }),
  );
  return Number(Attributes?.['ApproximateNumberOfMessages']);
}

/** Has messages become dead letters after fewer hand-outs than the template says. */
async function buryAfter(maxReceiveCount: number): Promise<void> {
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl(), AttributeNames: ['RedrivePolicy'] }),
  );
  const RedrivePolicy = JSON.stringify({
    ...JSON.parse(Attributes?.['RedrivePolicy'] ?? ''),
    maxReceiveCount,
  });
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl: queueUrl(), Attributes: { RedrivePolicy } }));
}

interface Examined {
  readonly healthy: boolean;
  readonly checks: readonly { readonly name: string; readonly verdict: string; readonly found: string }[];
}

/** The names of the checks that do not pass. */
/** What is amiss besides the rehearsals, which this test leaves to others. */
async function examine(): Promise<{ readonly exitCode: number; readonly amiss: readonly string[] }> {
  const { exitCode, stdout } = await deployment.relay(['doctor', '--json']);
  const { checks } = JSON.parse(stdout) as Examined;
  const amiss = checks.flatMap(({ name, verdict }) => (verdict === 'ok' ? [] : [name]));
  return { exitCode, amiss: amiss.filter((name) => !name.startsWith('rehearsal of ')) };
}

/** Of another kind than the orders of the alerts: the schedule may send it while a fault waits for one of them. */
const solSignal: OrderSignal = {
  action: 'order',
  orderType: 'limit',
  ticker: 'SOLUSDT',
  market: 'SOL_USDT',
  timeMs: null,
  maxLagMs: null,
  side: 'buy',
  size: { unit: 'base', quantity: '2' },
  limitPrice: '140',
};

/** @returns the status that the signal comes to, and the note of it */
async function outcomeOf(...asked: Parameters<Deployment['settled']>): Promise<string> {
  const { status, steps } = await deployment.settled(...asked);
  return `${status}: ${steps.at(-1)?.note}`;
}

/** Stores a signal and does not enqueue it. */
async function store(signalId: string, ageMs: number): Promise<void> {
  await acceptOne(
    deployment.ledger,
    {
      account: 'main',
      signalId,
      signal: solSignal,
      clientOrderId: `tr-${signalId}`,
      fingerprint: `of-${signalId}`,
      atMs: Date.now() - ageMs,
    },
    null,
  );
}

describe('A relay that was just deployed', () => {
  test('has a template without a finding of the linter, for regions of the EU too', async () => {
    const lint = 'import sys; from cfnlint.runner import main; sys.exit(main())';
    const regions = ['us-east-1', 'eu-central-1', 'eu-west-1'];
    const { exitCode, stdout } = await runProcess(
      await installPythonTools(),
      ['-c', lint, '--regions', ...regions, '--template', deployment.templatePath],
      { env: plainEnvironment() },
    );

    expect(stdout).toBe('');
    expect(exitCode).toBe(0);
  });

  test('is healthy but for what its operator has yet to give', async () => {
    expect(await examine()).toEqual({ exitCode: 1, amiss: ['dialect', 'key of main', 'key of second'] });
  });

  test('takes exchange keys from standard input, without another deployment', async () => {
    await deployment.relayJson(['keys', 'set', 'main'], `${replacedKey.join('\n')}\n`);
    await deployment.relayJson(['keys', 'set', 'main'], 'paper-key\npaper-secret\n');
    await deployment.relayJson(
      ['keys', 'set', 'second'],
      '{"apiKey":"paper-key-2","apiSecret":"paper-secret-2"}',
    );

    expect(await examine()).toEqual({ exitCode: 0, amiss: [] });
  });

  test('takes a new token; the old one opens until the time that was stated', async () => {
    // The emulator's first token holds punctuation, against the template: a slash in it would lead nowhere.
    await deployment.relayJson(['token', 'rotate', 'main']);
    const oldWebhook = await deployment.readWebhook('main');
    const before = Date.now();
    const rotated = await deployment.relayJson(['token', 'rotate', 'main', '--grace', '2']);
    webhook = await deployment.readWebhook('main');
    const statusOf = async (url: string) => (await post(url, '{"is":"no alert"}')).status;

    expect(webhook).not.toBe(oldWebhook);
    const { oldValidUntilMs } = rotated as { oldValidUntilMs: number };
    expect(Math.round((oldValidUntilMs - before) / 60_000)).toBe(120);
    // What a function remembers of the tokens it asks for anew at most every ten seconds.
    await waitUntil(
      'the new token',
      () => statusOf(webhook),
      (status) => status === 400,
    );
    expect(await statusOf(oldWebhook)).toBe(400);
    expect(await statusOf(webhook.slice(0, -1))).toBe(401);
  });
});

describe('A signal left behind by a crash', () => {
  test('is stored, and waits for the schedule while the other tests run', async () => {
    // Older than the half minute for which the reconciler leaves a signal alone.
    await store('left-behind', 31_000);
    expect(await deployment.ledger.read({ account: 'main', signalId: 'left-behind' })).toMatchObject({
      status: 'accepted',
    });
  });
});

describe('An alert', () => {
  test('becomes an order of the exchange, and the ledger proves it', async () => {
    const posted = await post(webhook, alert('first', { stopLoss: '59000', takeProfit: '65000' }));
    const entry = await deployment.settled('first');
    const shown = await deployment.relayJson(['signal', 'first']);

    expect(posted).toEqual({ status: 202, body: { signalId: 'first', status: 'accepted' } });
    expect(entry.steps.map(({ status }) => status)).toEqual(['accepted', 'sending', 'placed']);
    expect(shown).toMatchObject({ signalId: 'first', status: 'placed', orderId: entry.orderId });
    // The schedule may have sent the signal left behind by now, which is in another market.
    const { orders } = deployment.paper.control.state();
    expect(orders.filter(({ market }) => market === 'BTC_USDT')).toMatchObject([
      {
        orderId: entry.orderId,
        clientOrderId: entry.clientOrderId,
        market: 'BTC_USDT',
        side: 'buy',
        amount: '0.01',
        activationPrice: '61000',
        price: '61061',
      },
    ]);
  });

  test('that is sent again, also at the same time, is the same signal and no second order', async () => {
    const body = alert('again');
    const four = await Promise.all([1, 2, 3, 4].map(() => post(webhook, body)));
    await deployment.settled('again');
    const late = await post(webhook, body);
    await deployment.settled('again');

    expect(four.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 202]);
    expect(late).toEqual({ status: 200, body: { signalId: 'again', status: 'placed', duplicate: true } });
    const [clientOrderId] = await clientOrderIdsOf(['again']);
    expect(ordersOf('BTC_USDT').filter((id) => id === clientOrderId)).toHaveLength(1);
  });

  test('comes to the exchange in its turn, in each market', async () => {
    const rounds = [1, 2, 3, 4];
    for (const round of rounds) {
      await post(webhook, alert(`btc-${round}`));
      await post(webhook, alert(`eth-${round}`, onEth));
    }

    const btc = await clientOrderIdsOf(rounds.map((round) => `btc-${round}`));
    const eth = await clientOrderIdsOf(rounds.map((round) => `eth-${round}`));
    expect(ordersOf('BTC_USDT').slice(-4)).toEqual(btc);
    expect(ordersOf('ETH_USDT')).toEqual(eth);
  });

  test('of another account trades with its own key, within its own limits', async () => {
    // Rotated first, because of the punctuation.
    await deployment.relayJson(['token', 'rotate', 'second']);
    const second = await deployment.readWebhook('second');
    await waitUntil(
      'the new token',
      () => post(second, '{}'),
      ({ status }) => status === 400,
    );
    for (const [id, outcome] of [
      ['second-1', /^placed:/],
      ['second-2', /^placed:/],
      ['second-3', /^denied:/],
    ] as const) {
      await post(second, alert(id));
      expect(await outcomeOf(id, { account: 'second' })).toMatch(outcome);
    }

    const { evidence } = (await deployment.settled('second-3', { account: 'second' })).steps.at(-1) ?? {};
    expect(evidence).toMatchObject({ rule: 'max_orders_per_minute' });
  });

  test('that is no alert is refused with the reasons, which are kept', async () => {
    const refused = await post(webhook, alert('typo', { stopLos: '59000' }));
    const kept = await deployment.relayJson(['signals', '--status', 'invalid', '--limit', '1']);

    expect(refused).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_signal', issues: [{ path: 'stopLos' }] } },
    });
    expect(kept).toMatchObject({ signals: [{ status: 'invalid', account: 'main' }] });
  });

  test.each(replacedKey)(
    'that holds an exchange key or its secret is refused, and kept without it',
    async (text) => {
      const refused = await post(webhook, alert('leak', { comment: `my key is ${text}` }));
      const kept = await deployment.relayJson(['signals', '--status', 'invalid', '--limit', '1']);

      expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_signal' } } });
      expect(JSON.stringify(kept)).toContain('contains a secret of the relay');
      expect(JSON.stringify(kept)).not.toContain(text);
    },
  );

  test.each([
    ['lost', 'drop_after', 1],
    ['dropped', 'drop_before', 0],
  ] as const)('that is %s (%s) ends as unknown, and is not sent again', async (id, fault, orders) => {
    deployment.paper.control.addFault({ fault, endpoint: 'stop-limit', count: 1 });
    const before = ordersOf('ETH_USDT').length;
    await post(webhook, alert(id, onEth));
    const { steps } = await deployment.settled(id);

    // The schedule may have looked for it by now.
    expect(steps.map(({ status }) => status).slice(0, 3)).toEqual(['accepted', 'sending', 'unknown']);
    expect(ordersOf('ETH_USDT')).toHaveLength(before + orders);
  });

  test('whose outcome is unknown shows at the doctor', async () => {
    expect(await examine()).toEqual({ exitCode: 1, amiss: ['outcomes'] });
  });

  test('can be sent by the operator past the allowed addresses', async () => {
    const sent = await deployment.relayJson(['send', '-'], alert('by-hand'));

    expect(sent).toMatchObject({ httpStatus: 202, signals: [{ signalId: 'by-hand' }] });
    expect(await outcomeOf('by-hand')).toMatch(/^placed:/);
  });

  test('is posted to the one route there is', async () => {
    const elsewhere = webhook.replace('/signals/', '/');

    expect(await post(elsewhere, alert('elsewhere'))).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    });
  });
});

describe('The tool', () => {
  test('says so when there is no such stack, no relay in it, or no paper exchange', async () => {
    const runs = await Promise.all([
      deployment.relay(['signals', '--json', '--stack', 'nobody']),
      deployment.relay(['signals', '--json', '--stack', 'CDKToolkit']),
      deployment.relay(['paper', 'state', '--json']),
    ]);

    expect(runs.map(({ exitCode, stderr }) => [exitCode, JSON.parse(stderr).error.code])).toEqual([
      [1, 'unknown_stack'],
      [1, 'no_relay'],
      [2, 'usage'],
    ]);
  });

  test('lists signals newest first, page by page from the table', async () => {
    const { signals } = (await deployment.relayJson(['signals', '--limit', '3'])) as {
      readonly signals: readonly { readonly signalId: string }[];
    };

    expect(signals.map(({ signalId }) => signalId).slice(0, 2)).toEqual(['by-hand', 'dropped']);
    expect(signals).toHaveLength(3);
  });

  test('lists those of one account, and of one status of it', async () => {
    const list = async (...options: readonly string[]) => {
      const { signals } = (await deployment.relayJson(['signals', '--account', 'second', ...options])) as {
        readonly signals: readonly { readonly signalId: string }[];
      };
      return signals.map(({ signalId }) => signalId);
    };

    expect(await list('--limit', '2')).toEqual(['second-3', 'second-2']);
    expect(await list('--limit', '3')).toEqual(['second-3', 'second-2', 'second-1']);
    expect(await list('--status', 'placed')).toEqual(['second-2', 'second-1']);
  });

  test('shows why alerts of an id were refused', async () => {
    expect(await deployment.relayJson(['signal', 'typo'])).toMatchObject({
      account: 'main',
      status: 'invalid',
      steps: [{ evidence: { code: 'invalid_signal', issues: [{ path: 'stopLos' }] } }],
    });
  });
});

describe('An alert of each kind', () => {
  const grounds = { spot: 'DBTCDUSDT', margin: 'BTCUSDT', futures: 'BTCUSDT.P' } as const;
  const kinds = {
    limit: { orderType: 'limit', limitPrice: '50000' },
    guarded: { orderType: 'market', maxSlippage: '0.5%' },
    unguarded: { orderType: 'market' },
    stop_limit: { orderType: 'stop_limit', stopPrice: '70000', limitPrice: '70100' },
    // On spot the exchange sizes such a buy in the quote currency.
    stop_market: { orderType: 'stop_market', stopPrice: '70000', quantity: undefined, quoteQuantity: '700' },
  } as const;
  type Kind = keyof typeof kinds;

  const postOrder = (id: string, ticker: string, changes: Record<string, unknown>) =>
    post(webhook, JSON.stringify({ id, ticker, action: 'buy', quantity: '0.01', ...changes }));
  const orderOf = ({ orderId }: Entry) =>
    deployment.paper.control.state().orders.find((order) => order.orderId === orderId);

  beforeAll(async () => {
    for (const [ground, ticker] of Object.entries(grounds))
      for (const [kind, changes] of Object.entries(kinds))
        await postOrder(`${ground}-${kind}`, ticker, changes);
  });

  test.each([
    ['spot', 'limit', { type: 'spot_limit', status: 'open', amount: '0.01', price: '50000' }],
    ['spot', 'guarded', { type: 'spot_limit', ioc: true, status: 'filled', amount: '0.01' }],
    ['spot', 'unguarded', { type: 'spot_stock_market', status: 'filled', amount: '0.01' }],
    ['spot', 'stop_limit', { type: 'spot_stop_limit', status: 'open', activationPrice: '70000' }],
    ['spot', 'stop_market', { type: 'spot_stop_market', status: 'open', amount: '700' }],
    ['margin', 'limit', { type: 'limit', status: 'open', amount: '0.01', price: '50000' }],
    ['margin', 'guarded', { type: 'limit', ioc: true, status: 'filled', amount: '0.01' }],
    ['margin', 'unguarded', { type: 'market', status: 'filled', amount: '0.01' }],
    ['margin', 'stop_limit', { type: 'stop_limit', status: 'open', activationPrice: '70000' }],
    ['margin', 'stop_market', { type: 'stop_market', status: 'open', amount: '0.01' }],
    ['futures', 'limit', { type: 'limit', status: 'open', amount: '0.01', price: '50000' }],
    ['futures', 'guarded', { type: 'limit', ioc: true, status: 'filled', amount: '0.01' }],
    ['futures', 'unguarded', { type: 'market', status: 'filled', amount: '0.01' }],
    ['futures', 'stop_limit', { type: 'stop_limit', status: 'open', activationPrice: '70000' }],
    ['futures', 'stop_market', { type: 'stop_market', status: 'open', amount: '0.01' }],
  ] as const satisfies readonly (readonly [keyof typeof grounds, Kind, object])[])(
    'on %s becomes the order it asks for: %s',
    async (ground, kind, order) => {
      const entry = await deployment.settled(`${ground}-${kind}`);

      expect(entry).toMatchObject({ status: 'placed', orderOpen: order.status === 'open' });
      expect(orderOf(entry)).toMatchObject({ ...order, clientOrderId: entry.clientOrderId });
    },
  );

  test('with a size in percent is sized by what the position is, and the ledger says what was read', async () => {
    const half = {
      action: 'sell',
      quantity: '50%',
      of: 'position',
      orderType: 'market',
      maxSlippage: '0.5%',
    };
    await postOrder('half', grounds.futures, half);
    const entry = await deployment.settled('half');

    expect(orderOf(entry)).toMatchObject({
      side: 'sell',
      amount: '0.01',
      reduceOnly: true,
      status: 'filled',
    });
    expect(entry.steps.find(({ status }) => status === 'sending')?.evidence).toMatchObject({
      amount: '0.01',
      sizedOn: { holding: { of: 'position', positions: [{ amount: '0.02' }] } },
    });
  });

  test('that cancels the whole market leaves nothing open there, and reads that back', async () => {
    const cancelAll = { id: 'all', ticker: grounds.futures, action: 'cancel_all', scope: 'market' };
    await post(webhook, JSON.stringify(cancelAll));
    const entry = await deployment.settled('all');

    expect(entry).toMatchObject({ status: 'cancelled' });
    expect(entry.steps.at(-1)?.evidence).toMatchObject({ left: [] });
    const { orders } = deployment.paper.control.state();
    expect(orders.filter(({ market, status }) => market === 'BTC_PERP' && status === 'open')).toEqual([]);
  });
});

// Before the account is paused, and before a message holds up that market: after a run in that time the signal would be
// denied, or its message buried with the other one.
describe('The schedule fires, and', () => {
  test('the signal left behind becomes an order', async () => {
    expect(await outcomeOf('left-behind', { timeoutMs: 100_000 })).toMatch(/^placed:/);
    expect(ordersOf('SOL_USDT')).toContain('tr-left-behind');
  });

  test('the order whose response was lost is found at the exchange', async () => {
    const entry = await waitForEntry('lost', ({ status }) => status !== 'unknown');

    expect(entry).toMatchObject({ status: 'placed', orderOpen: true });
    expect(entry.steps.at(-1)).toMatchObject({ by: 'reconcile-signals' });
    const { orders } = deployment.paper.control.state();
    expect(orders.find(({ orderId }) => orderId === entry.orderId)?.clientOrderId).toBe(entry.clientOrderId);
  });

  test('the order that never reached the exchange is looked for in vain, and stays unknown for now', async () => {
    const entry = await waitForEntry('dropped', ({ lookup }) => lookup?.finding !== null);

    expect(entry).toMatchObject({
      status: 'unknown',
      lookup: { notFound: entry.lookup?.count, finding: 'the order is neither open nor in the history' },
    });
    expect((await examine()).amiss).toEqual(['outcomes']);
  });
});

describe('A paused account', () => {
  test('denies its signals until it is resumed, and shows at the doctor', async () => {
    await deployment.relayJson(['pause', 'main', '--reason', 'maintenance']);
    await post(webhook, alert('while-paused'));
    const denied = await deployment.settled('while-paused');
    const during = await examine();
    await deployment.relayJson(['resume', 'main']);
    await post(webhook, alert('after-pause'));

    expect(denied).toMatchObject({ status: 'denied', steps: [{}, { evidence: { rule: 'paused' } }] });
    // A warning alone is no failure; the unknown outcome of before still is.
    expect(during.amiss).toEqual(['outcomes', 'pauses']);
    expect(await outcomeOf('after-pause')).toMatch(/^placed:/);
  });
});

describe('A message that cannot be handled', () => {
  const poison = { account: 'main', signalId: 'poison', market: 'SOL_USDT' };

  test('holds up its own market, and no other', async () => {
    // It comes again after 5 s, after 10 s and so on, five times; the test waits for two.
    await buryAfter(2);
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl(),
        // The ledger holds no such signal.
        MessageBody: JSON.stringify(poison),
        MessageGroupId: 'main.SOL_USDT',
        MessageDeduplicationId: 'poison',
      }),
    );
    await post(webhook, alert('behind', onSol));
    await post(webhook, alert('beside'));

    expect(await outcomeOf('beside')).toMatch(/^placed:/);
    expect(await deployment.ledger.read({ account: 'main', signalId: 'behind' })).toMatchObject({
      status: 'accepted',
    });
    expect(await countMessages(deadLetterUrl())).toBe(0);
  });

  test('ends as a dead letter, and its market goes on long before the queue would have let it', async () => {
    expect(await outcomeOf('behind')).toMatch(/^placed:/);
    expect(await countMessages(deadLetterUrl())).toBe(1);
    expect((await examine()).amiss).toEqual(['dead letters', 'outcomes']);
  });

  test('is handled after a redrive, once its cause is mended', async () => {
    await store('poison', 0);
    const { redriven } = (await deployment.relayJson(['redrive'])) as { redriven: unknown };

    expect(redriven).toEqual([{ group: 'main.SOL_USDT', body: JSON.stringify(poison) }]);
    expect(await outcomeOf('poison')).toMatch(/^placed:/);
    expect(await countMessages(deadLetterUrl())).toBe(0);
    expect(await deployment.relayJson(['redrive'])).toEqual({
      target: { kind: 'stack', stack: 'trading-relay-test', region: deployment.aws.region },
      redriven: [],
    });
  });
});

test('A rehearsal at the exchange is kept in the table, and shows at the doctor', async () => {
  const openOrders = () =>
    deployment.paper.control
      .state()
      .orders.filter(({ account, status }) => account === 'second' && status === 'open')
      .map(({ clientOrderId }) => clientOrderId);
  const before = openOrders();
  const rehearsed = await deployment.relayJson(['rehearse', 'second', 'BTC_USDT', '--to', '5', '--yes']);
  const { stdout } = await deployment.relay(['doctor', '--json']);
  const { checks } = JSON.parse(stdout) as Examined;

  expect(rehearsed).toMatchObject({ account: 'second', market: 'BTC_USDT', ground: 'margin' });
  expect(checks.find(({ name }) => name === 'rehearsal of second on margin')?.found).toMatch(
    /^1: .* 5: .* Not passed yet: 6$/,
  );
  expect(openOrders()).toEqual(before);
});

test('An alarm that rings shows at the doctor', async () => {
  // The emulator has no metrics of queues and no metric filters: the state is set, as a metric would.
  const client = new CloudWatchClient(deployment.aws.clientOptions);
  const { MetricAlarms = [] } = await client.send(new DescribeAlarmsCommand({}));
  const AlarmName = MetricAlarms.find(({ AlarmName: name }) => name?.includes('DeadLetters'))?.AlarmName;
  await client.send(new SetAlarmStateCommand({ AlarmName, StateValue: 'ALARM', StateReason: 'a test' }));
  const ringing = await examine();
  await client.send(new SetAlarmStateCommand({ AlarmName, StateValue: 'OK', StateReason: 'a test' }));
  client.destroy();

  expect(ringing.amiss).toEqual(['alarms', 'outcomes']);
  expect((await examine()).amiss).toEqual(['outcomes']);
});

const allTimes: Period = { fromMs: 0, untilMs: Date.UTC(2100, 0, 1) };

function describeHoldings(holdings: Holdings = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(holdings).map(([ticker, amount]) => [ticker, formatDecimal(amount)]),
  );
}

// The emulator does not tell the time that a run stands for: it is the minute the run comes in.
describe('The schedules of snapshots fire, and', () => {
  function waitForBalances(account: string): Promise<BalanceSnapshot | null> {
    return waitUntil(
      `a snapshot of what ${account} holds`,
      () => deployment.snapshots.balances.readAt(account, Date.now()),
      (found) => found !== null,
      100_000,
    );
  }

  test('what each account holds is kept, as the exchange has it', async () => {
    const main = await waitForBalances('main');
    const second = await waitForBalances('second');

    expect(describeHoldings(main?.main)).toEqual({ BTC: '1.25', ETH: '20', SOL: '0.5', USDT: '25000.75' });
    expect(describeHoldings(second?.main)).toEqual({ USDT: '500' });
    expect(Object.keys(main?.collateral ?? {})).toContain('USDT');
    expect((main?.slotMs ?? 0) % 60_000).toBe(0);
  });

  // Before the stack was there, and not yet too long ago.
  const slotMs = Math.floor(startedAtMs / 60_000) * 60_000 - 5 * 60_000;

  test('a time that comes twice, at once and later, is kept once', async () => {
    const event = { slot: new Date(slotMs).toISOString() };
    const hold = (amount: string) => deployment.paper.control.setBalance('main', 'BTC', parseDecimal(amount));
    hold('2');
    await Promise.all([1, 2].map(() => invokeFunction(lambda, 'SnapshotsBalances', event)));
    hold('3');
    const isAnswered = await invokeFunction(lambda, 'SnapshotsBalances', event);

    expect(isAnswered).toBe(true);
    const kept = await collect(
      deployment.snapshots.balances.list('main', { fromMs: slotMs, untilMs: slotMs + 60_000 }),
    );
    expect(kept.map(({ main }) => describeHoldings(main)['BTC'])).toEqual(['2']);
  });

  test('a time long past has nothing kept for it', async () => {
    const isAnswered = await invokeFunction(lambda, 'SnapshotsBalances', { slot: '2026-01-01T12:00:00Z' });

    expect(isAnswered).toBe(true);
    const newYear = { fromMs: Date.UTC(2026, 0, 1), untilMs: Date.UTC(2026, 0, 2) };
    expect(await collect(deployment.snapshots.balances.list('main', newYear))).toEqual([]);
  });

  test('every fee is kept, and a change of one as a version of it', async () => {
    const known = await waitUntil(
      'the fees',
      () => deployment.snapshots.fees.readCurrent('main'),
      ({ length }) => length === 5,
      100_000,
    );
    deployment.paper.control.setFee('BTC', { withdraw: { fixed: '0.0005' } });
    await invokeFunction(lambda, 'SnapshotsFees', {});

    expect(known.map(({ ticker }) => ticker)).toEqual(['BTC', 'ETH', 'SOL', 'UAH', 'USDT']);
    const versions = await collect(deployment.snapshots.fees.list('main'));
    expect(
      versions.map(({ ticker, fees, untilMs }) => [ticker, fees?.withdraw.fixed.toFixed(), untilMs === null]),
    ).toEqual([
      ['BTC', '0.0004', false],
      ['BTC', '0.0005', true],
      ['ETH', '0.002', true],
      ['SOL', '0.01', true],
      ['UAH', '0', true],
      ['USDT', '0', true],
    ]);
  });

  test('the interest payments of a partner are imported, and another account is told once that it is none', async () => {
    const { interest } = deployment.snapshots;
    const progress = await waitUntil(
      'the import of interest payments',
      () => interest.readProgress('main'),
      ({ completeUntilMs }) => completeUntilMs !== null,
      100_000,
    );
    const payments = await collect(interest.list('main', allTimes));
    const refused = await waitUntil(
      'the refusal of the other account',
      () => interest.readProgress('second'),
      ({ refusal }) => refusal !== null,
    );

    expect(payments).toHaveLength(250);
    expect(
      payments.map(({ paidAtMs, ticker, amount }) => [paidAtMs / 1000, ticker, formatDecimal(amount)]),
    ).toEqual(
      interestPaymentRecords.toReversed().map(({ timestamp, ticker, amount }) => [timestamp, ticker, amount]),
    );
    expect(progress.gaps).toEqual([]);
    expect(refused.refusal?.reason).toContain('403');
    expect(await collect(interest.list('second', allTimes))).toEqual([]);
  });

  test('the tool shows what was kept', async () => {
    const written = new Date(slotMs).toISOString().slice(0, 16);
    const thatMinute = ['--from', written, '--to', written, '--every', '1h'];
    const [balances, fees] = await Promise.all([
      deployment.relayJson(['balances', ...thatMinute, '--tickers', 'BTC']),
      deployment.relayJson(['fees', 'history', 'BTC']),
    ]);

    expect(balances).toMatchObject({ account: 'main', rows: [{ slotMs }] });
    expect(JSON.stringify(balances)).toContain('"BTC":"2"');
    expect(fees).toMatchObject({
      versions: [
        { fees: { withdraw: { fixed: '0.0004' } } },
        { fees: { withdraw: { fixed: '0.0005' } }, untilMs: null },
      ],
    });
  });
});

describe('What the emulator cannot show, the deployed template says:', () => {
  test('the ledger is encrypted, can be taken back in time, forgets old entries, and stays', () => {
    const table = findResource(deployment.readTemplate(), 'AWS::DynamoDB::GlobalTable', 'RelayLedger');
    expect(table.DeletionPolicy).toBe('Retain');
    expect(table.Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      SSESpecification: { SSEEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      Replicas: [
        {
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          DeletionProtectionEnabled: true,
        },
      ],
    });
  });

  test('the snapshots are encrypted, can be taken back in time, and stay for good', () => {
    const table = findResource(deployment.readTemplate(), 'AWS::DynamoDB::GlobalTable', 'RelaySnapshots');
    expect(table.DeletionPolicy).toBe('Retain');
    expect(table.Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      SSESpecification: { SSEEnabled: true },
      Replicas: [
        {
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          DeletionProtectionEnabled: true,
        },
      ],
    });
    expect(table.Properties).not.toHaveProperty('TimeToLiveSpecification');
  });

  test('the queue hides a message for six times as long as the function may take', () => {
    const template = deployment.readTemplate();
    const { Timeout } = propertiesOf(template, 'AWS::Lambda::Function', 'RelayExecute');
    expect(propertiesOf(template, 'AWS::SQS::Queue', 'RelaySignalsQueue')).toMatchObject({
      VisibilityTimeout: 6 * Number(Timeout),
      SqsManagedSseEnabled: true,
      RedrivePolicy: { maxReceiveCount: 5 },
    });
    expect(propertiesOf(template, 'AWS::Lambda::EventSourceMapping')).toMatchObject({
      BatchSize: 1,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
  });

  test('the API lets in the addresses of TradingView and of the configuration, slowly, and logs no path', () => {
    const template = deployment.readTemplate();
    const { Policy } = propertiesOf(template, 'AWS::ApiGateway::RestApi');
    const { Statement } = Policy as { Statement: readonly unknown[] };
    expect(Statement).toMatchObject([
      {
        Effect: 'Allow',
        Condition: {
          IpAddress: {
            'aws:SourceIp': [
              '52.89.214.238',
              '34.212.75.30',
              '54.218.53.128',
              '52.32.178.7',
              '203.0.113.0/24',
            ],
          },
        },
      },
    ]);
    const stage = propertiesOf(template, 'AWS::ApiGateway::Stage');
    expect(stage).toMatchObject({
      MethodSettings: [
        { LoggingLevel: 'OFF', DataTraceEnabled: false, ThrottlingRateLimit: 10, ThrottlingBurstLimit: 50 },
      ],
    });
    expect(JSON.stringify(stage['AccessLogSetting'])).not.toMatch(/context\.path\b|token/);
  });

  test.each(['Balances', 'Fees', 'Interest'])(
    'the schedule of %s keeps its time zone, tells the time it stands for, and keeps its failures',
    (name) => {
      const schedule = propertiesOf(
        deployment.readTemplate(),
        'AWS::Scheduler::Schedule',
        `RelaySnapshots${name}Schedule`,
      );
      expect(schedule).toMatchObject({
        ScheduleExpression: 'cron(* * * * ? *)',
        ScheduleExpressionTimezone: 'Europe/Kyiv',
        Target: {
          Input: '{"slot":"<aws.scheduler.scheduled-time>"}',
          DeadLetterConfig: {},
          RetryPolicy: { MaximumRetryAttempts: 10 },
        },
      });
    },
  );

  test('the schedule of the reconciler keeps a time zone, and its failures', () => {
    const template = deployment.readTemplate();
    expect(propertiesOf(template, 'AWS::Scheduler::Schedule', 'RelayReconcile')).toMatchObject({
      ScheduleExpression: 'cron(* * * * ? *)',
      ScheduleExpressionTimezone: 'Etc/UTC',
      Target: {
        DeadLetterConfig: {},
        RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 2 },
      },
    });
  });
});

describe('A relay that is destroyed', () => {
  test('leaves its ledger and its snapshots, and nothing else', async () => {
    const { clientOptions } = deployment.aws;
    await deployment.destroy();

    const stacks = new CloudFormationClient(clientOptions).send(
      new DescribeStacksCommand({ StackName: 'trading-relay-test' }),
    );
    await expect(stacks).rejects.toThrow('does not exist');
    const TableName = deployment.outputs['LedgerTable'];
    const dynamodb = new DynamoDBClient(clientOptions);
    const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName }));
    expect(Table?.TableStatus).toBe('ACTIVE');
    expect(await deployment.ledger.read({ account: 'main', signalId: 'first' })).toMatchObject({
      status: 'placed',
    });
    expect(await deployment.snapshots.fees.readCurrent('main')).toHaveLength(5);
    const { TableNames } = await dynamodb.send(new ListTablesCommand({}));
    expect(TableNames?.toSorted()).toEqual([TableName, deployment.outputs['SnapshotTable']].toSorted());
    const { Functions } = await lambda.send(new ListFunctionsCommand({}));
    const { QueueUrls } = await sqs.send(new ListQueuesCommand({}));
    const { SecretList } = await new SecretsManagerClient(clientOptions).send(new ListSecretsCommand({}));
    expect([Functions ?? [], QueueUrls ?? [], SecretList ?? []]).toEqual([[], [], []]);
  });
});
