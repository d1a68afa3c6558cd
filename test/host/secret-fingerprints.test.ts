import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { openSqlite } from '../../lib/base/sqlite.ts';
import {
  openNoticeServices,
  openReceiveServices,
  openReconcileServices,
} from '../../lib/host/aws-services.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { createFingerprintKeeper, readFingerprints } from '../../lib/host/secret-fingerprints.ts';
import { createWebhook } from '../../lib/host/webhook.ts';
import type { AllAccountFacts } from '../../lib/ledger/account-facts.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { receiveSignal } from '../../lib/relay/receive/receive-signal.ts';
import { holdsSecret } from '../../lib/signals/find-secret.ts';
import { buyAlert } from '../support/alerts.ts';
import { startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { proxyEvent } from '../support/functions.ts';
import { createListeningLog } from '../support/listening-log.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { token } from '../support/relay-services.ts';
import { createStackTable } from '../support/stack-tables.ts';
import { openWorld, testConfig } from '../support/world.ts';

const keys = { apiKey: 'f00dfacef00dfacef00dfacef00dface', apiSecret: '0ddba11c0ddba11c0ddba11c0ddba11c' };
const minuteMs = 60_000;

/** A relay on one of its hosts, whose account `main` has a key. */
interface Host {
  readonly ledger: Ledger;
  readonly keys: typeof keys;
  /** Returns status and body of the response. */
  post(body: string): Promise<string>;
  /** Everything that was logged. */
  logged(): string;
  close(): Promise<void>;
}

let close = async (): Promise<void> => undefined;
afterEach(() => close());

async function openLocal(): Promise<Host> {
  const world = await openWorld({ dialect: 'live' });
  close = () => world.close();
  return {
    ledger: world.ledger,
    keys: { apiKey: 'paper-key', apiSecret: 'paper-secret' },
    async post(body) {
      const { status, body: response } = await world.post(body);
      return `${status} ${JSON.stringify(response)}`;
    },
    logged: () => JSON.stringify(world.logged),
    close: () => world.close(),
  };
}

/** The services of the functions, over stand-ins for AWS. */
async function openStack(names: readonly string[] = ['main']) {
  const dynamodb = await startDynamodb();
  await createStackTable(dynamodb.client, 'ledger', 'ledger');
  const secrets: Record<string, object> = {
    'id-of-tokens': { current: token, previous: null },
    'id-of-keys': keys,
    'id-of-ways': {},
  };
  const operations: string[] = [];
  const aws = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const [service, operation = ''] = String(request.headers['x-amz-target']).split('.');
    operations.push(operation);
    const send = (status: number, content: string) => response.writeHead(status).end(content);
    if (service === 'secretsmanager')
      return send(200, JSON.stringify({ SecretString: JSON.stringify(secrets[JSON.parse(body).SecretId]) }));
    if (operation === 'SendMessage')
      return send(200, JSON.stringify({ MD5OfMessageBody: hash('md5', JSON.parse(body).MessageBody) }));
    const headers = { 'x-amz-target': String(request.headers['x-amz-target']) };
    const stored = await fetch(dynamodb.url, { method: 'POST', headers, body });
    return send(stored.status, await stored.text());
  }).listen(0, '127.0.0.1');
  await once(aws, 'listening');
  const { main } = testConfig.accounts;
  const each = <T>(value: T) => Object.fromEntries(names.map((name) => [name, value]));
  const config = parseConfig({ ...testConfig, accounts: each(main) });
  const url = `http://127.0.0.1:${(aws.address() as AddressInfo).port}`;
  const environment = {
    AWS_REGION: 'eu-central-1',
    AWS_ENDPOINT_URL: url,
    LEDGER_TABLE: 'ledger',
    SIGNAL_QUEUE_URL: `${url}/signals.fifo`,
    WEBHOOK_TOKENS: JSON.stringify(each('id-of-tokens')),
    EXCHANGE_KEYS: JSON.stringify(each('id-of-keys')),
    NOTICE_SECRET: 'id-of-ways',
    STACK_NAME: 'relay-test',
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
    AWS_SESSION_TOKEN: 'c',
  };
  close = async () => {
    aws.close();
    aws.closeAllConnections();
    await dynamodb.close();
  };
  const { log, lines } = createListeningLog();
  return {
    ledger: createDynamodbLedger({ client: dynamodb.relayClient, tableName: 'ledger', keepDays: 400 }),
    keepFingerprints: openReconcileServices(config, environment).keepFingerprints,
    openChannel: openNoticeServices(config, environment).openChannel,
    setWays(ways: object) {
      secrets['id-of-ways'] = ways;
    },
    openReceive(table = environment.LEDGER_TABLE) {
      const services = { ...openReceiveServices(config, { ...environment, LEDGER_TABLE: table }), log };
      const handler = createWebhook(log, (request) => receiveSignal(services, request));
      return async (body: string) => {
        const { statusCode, body: response } = await handler(proxyEvent(body));
        return `${statusCode} ${response}`;
      };
    },
    logged: () => JSON.stringify(lines),
    operations,
  };
}

async function openAws(): Promise<Host> {
  const stack = await openStack();
  await stack.keepFingerprints();
  return { ...stack, keys, post: stack.openReceive(), close };
}

const percent = (text: string) =>
  Array.from(text, (letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
const escaped = (text: string) =>
  Array.from(text, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

const disguises: readonly (readonly [string, (secret: string) => string])[] = [
  ['in a comment', (secret) => buyAlert({ comment: `my key is ${secret}.` })],
  ['as an id', (secret) => buyAlert({ id: secret })],
  ['among other letters', (secret) => buyAlert({ extras: { a: [`x${secret}x`] } })],
  ['as the name of a field', (secret) => buyAlert({ [secret]: 1 })],
  ['in JSON escapes', (secret) => buyAlert({ comment: 'HERE' }).replace('HERE', escaped(secret))],
  ['in JSON within JSON', (secret) => buyAlert({ comment: `{"a":"${escaped(secret)}"}` })],
  ['in the escapes of a URL', (secret) => buyAlert({ comment: `https://a.example/?k=${percent(secret)}` })],
  ['in a text', (secret) => `buy 0.01 BTC apiKey=${secret}&x=1`],
  ['in a form', (secret) => `message=%7B%22apiKey%22%3A%22${percent(secret)}%22%7D`],
];

describe.each([
  ['on one machine', openLocal],
  ['on AWS', openAws],
] as const)('%s', (_, open) => {
  test('an alert with the key of the exchange or its secret is refused, and nothing of it is kept', async () => {
    const host = await open();
    for (const secret of Object.values(host.keys))
      for (const [where, compose] of disguises) {
        const body = compose(secret);
        expect([where, await host.post(body)]).toEqual([
          where,
          expect.stringMatching(/^400 .*invalid_signal/),
        ]);
      }

    const { entries } = await host.ledger.list({ limit: 100 });
    expect(entries.map(({ status }) => status)).toEqual(Array(2 * disguises.length).fill('invalid'));
    const kept = JSON.stringify(entries) + host.logged();
    for (const secret of Object.values(host.keys))
      for (const form of [secret, escaped(secret), percent(secret), escaped(secret).replaceAll('\\', '\\\\')])
        expect(kept).not.toContain(form);
  });
});

test('a stack that an older release made searches alerts for its key from the first run of the reconciler on', async () => {
  const stack = await openStack();
  const alert = (id: string) => buyAlert({ id, comment: keys.apiSecret });

  const post = stack.openReceive();
  expect(await post(alert('before'))).toMatch(/^202 /);
  await stack.keepFingerprints();
  expect(await post(alert('after'))).toMatch(/^400 /);
});

test('the function that sends notices makes known what opens its channels, and keeps it known when one changes', async () => {
  const stack = await openStack();
  const post = stack.openReceive();
  const wayOf = (letter: string) => ({ url: `https://discord.invalid/api/webhooks/1/${letter.repeat(32)}` });
  let count = 0;
  const [first, second, slack] = ['x', 'y', 'z'].map(wayOf);
  const isRefused = async ({ url } = { url: '' }) => {
    count += 1;
    const response = await post(buyAlert({ id: `a-${count}`, comment: `see ${url}` }));
    return response.startsWith('400 ');
  };
  const say = async (ways: object) => {
    stack.setWays(ways);
    await stack.openChannel('discord');
  };

  await say({ discord: first, slack });
  expect([await isRefused(first), await isRefused(slack), await isRefused(second)]).toEqual([
    true,
    true,
    false,
  ]);
  await say({ discord: second, slack });
  expect([await isRefused(first), await isRefused(slack), await isRefused(second)]).toEqual([
    true,
    true,
    true,
  ]);

  const writes = () => stack.operations.filter((operation) => operation === 'UpdateItem').length;
  const before = writes();
  await stack.openChannel('discord');
  expect(writes()).toBe(before);
});

test('an alert is searched for the keys of all accounts with one request to the table', async () => {
  const stack = await openStack(['main', 'second', 'third']);
  await stack.keepFingerprints();
  const post = stack.openReceive();
  stack.operations.length = 0;

  expect(await post(buyAlert())).toMatch(/^202 /);
  expect(stack.operations.filter((operation) => /GetItem$/.test(operation))).toEqual(['BatchGetItem']);
  expect(await post(buyAlert({ id: 'other', comment: keys.apiSecret }))).toMatch(/^400 /);
});

test('an alert is to be sent again when it cannot be searched for the key', async () => {
  const stack = await openStack();

  expect(await stack.openReceive('no-table')(buyAlert())).toMatch(
    /^503 .*what is known of the account could not be read/,
  );
});

describe('the fingerprints of an account', () => {
  const later = { apiKey: '1'.repeat(32), apiSecret: '2'.repeat(32) };
  const latest = { apiKey: '3'.repeat(32), apiSecret: '4'.repeat(32) };

  function openParts() {
    const file = openSqlite(':memory:');
    close = async () => file.close();
    const clock = createManualClock(0);
    const { log, lines } = createListeningLog();
    const stored = createSqliteAccountFacts(file);
    const parts = { keys: keys as typeof keys | null, fails: false, writes: 0 };
    const unlessFailing = () => {
      if (parts.fails) throw new Error('the store is away');
    };
    const facts: AllAccountFacts = {
      async read(account, name) {
        unlessFailing();
        return await stored.read(account, name);
      },
      async readOfAll(accounts, name) {
        unlessFailing();
        return await stored.readOfAll(accounts, name);
      },
      async write(account, name, fact) {
        unlessFailing();
        parts.writes += 1;
        await stored.write(account, name, fact);
      },
    };
    const startKeeper = () =>
      createFingerprintKeeper({
        accounts: ['main'],
        clock,
        facts,
        log,
        secrets: { exchangeKeys: async () => parts.keys },
      });
    return { parts, clock, lines, startKeeper, read: () => readFingerprints(facts, ['main']) };
  }

  const isKnown = async (read: () => ReturnType<typeof readFingerprints>, text: string) =>
    holdsSecret(text, await read());

  test('are written once, and again an hour after the key was replaced by hand; those before stay', async () => {
    const { parts, clock, startKeeper, read } = openParts();
    const keep = startKeeper();
    await keep();
    await startKeeper()();
    expect(parts.writes).toBe(1);

    parts.keys = later;
    clock.advance(60 * minuteMs - 1);
    await keep();
    expect(await isKnown(read, later.apiKey)).toBe(false);
    clock.advance(1);
    await keep();
    expect(await isKnown(read, later.apiKey)).toBe(true);
    expect(await isKnown(read, keys.apiSecret)).toBe(true);

    parts.keys = latest;
    await startKeeper()();
    expect(await isKnown(read, latest.apiSecret)).toBe(true);
    expect(await isKnown(read, later.apiSecret)).toBe(true);
    expect(await isKnown(read, keys.apiSecret)).toBe(false);
  });

  test('are none while no key is stored', async () => {
    const { parts, startKeeper, read } = openParts();
    parts.keys = null;
    await startKeeper()();

    expect(await read()).toEqual([]);
  });

  test('are written by the next run when one fails, which says so without failing', async () => {
    const { parts, lines, startKeeper, read } = openParts();
    const keep = startKeeper();
    parts.fails = true;
    await keep();
    parts.fails = false;
    await keep();

    expect(lines.map(({ level, facts }) => [level, facts['account']])).toEqual([['warn', 'main']]);
    expect(await isKnown(read, keys.apiKey)).toBe(true);
  });

  test('must be read: an alert that comes while they cannot is to be sent again', async () => {
    const { parts, startKeeper, read } = openParts();
    await startKeeper()();
    parts.fails = true;

    await expect(read()).rejects.toThrow('the store is away');
  });
});
