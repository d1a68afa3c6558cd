import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DynamodbClient } from '../../lib/base/dynamodb.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import type { Settings } from '../../lib/model/settings.ts';
import type { SignalQueue } from '../../lib/queue/queue.ts';
import { createQueuedEntrance } from '../../lib/relay/receive/queued-entrance.ts';
import { type LocalDynamodb, startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { type Functions, openFunctions } from '../support/functions.ts';
import { override } from '../support/override.ts';
import { createStackTable } from '../support/stack-tables.ts';

/** The requests that one alert causes, in order, in warm functions with cached secrets. */
let asked: string[];
let inFlight = 0;
let dynamodb: LocalDynamodb;
let functions: Functions | null = null;

beforeEach(async () => {
  asked = [];
  dynamodb = await startDynamodb();
  await createStackTable(dynamodb.client, 'ledger', 'ledger');
});
afterEach(async () => {
  await functions?.close();
  functions = null;
  await dynamodb.close();
});

/** Notes a request; one that begins while another is under way stands beside it. */
async function note<T>(name: string, send: () => Promise<T>): Promise<T> {
  if (inFlight > 0) asked.push(`${asked.pop()} beside ${name}`);
  else asked.push(name);
  inFlight += 1;
  try {
    return await send();
  } finally {
    inFlight -= 1;
  }
}

function openWatched(): DynamodbClient {
  return { call: (operation, input) => note(operation, () => dynamodb.relayClient.call(operation, input)) };
}

const queue: SignalQueue = { enqueue: () => note('SendMessage', async () => undefined) };

async function open(change: (settings: Settings) => Settings = (settings) => settings): Promise<Functions> {
  const ledger = createDynamodbLedger({ client: openWatched(), tableName: 'ledger', keepDays: 400 });
  functions = await openFunctions(({ settings, exchangeFor }) => ({
    settings: change(settings),
    ledger: override(ledger, createQueuedEntrance(ledger, queue)),
    exchangeFor: async (account) => tellWire(await exchangeFor(account)),
  }));
  return functions;
}

function tellWire(client: ExchangeClient): ExchangeClient {
  return override(client, {
    prepare(endpoint, params) {
      const request = client.prepare(endpoint, params);
      return override(request, {
        send(options) {
          asked.push('the order');
          return request.send(options);
        },
      });
    },
  });
}

function withBothLimits(settings: Settings): Settings {
  const { main } = settings.accounts;
  if (main === undefined) throw new Error('there is no account main');
  const limited = { ...main, maxSignalsPerMinute: 10, maxOrdersPerMinute: 10 };
  return { ...settings, accounts: { ...settings.accounts, main: limited } };
}

const order = { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', stopPrice: '61000' };

/** The requests of the second alert, because the first one still has to create the counts of a minute. */
async function listRequests({ receive, execute }: Functions) {
  await receive(JSON.stringify({ id: 'first', ...order }));
  await execute('first');
  asked = [];
  await receive(JSON.stringify({ id: 'second', ...order }));
  const receiving = asked;
  asked = [];
  await execute('second');
  return { receiving, executing: asked };
}

describe('one order costs', () => {
  test('without limits four requests to AWS, one after another, before it is sent', async () => {
    expect(await listRequests(await open())).toEqual({
      receiving: ['PutItem', 'SendMessage'],
      executing: ['Query beside GetItem', 'UpdateItem', 'the order', 'UpdateItem', 'UpdateItem'],
    });
  });

  test('with both limits six: two minutes are counted', async () => {
    expect(await listRequests(await open(withBothLimits))).toEqual({
      receiving: ['UpdateItem', 'PutItem', 'SendMessage'],
      executing: [
        'Query beside GetItem',
        'UpdateItem',
        'UpdateItem',
        'the order',
        'UpdateItem',
        'UpdateItem',
      ],
    });
  });
});
