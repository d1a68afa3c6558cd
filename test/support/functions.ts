import type { APIGatewayProxyEvent, APIGatewayProxyResult, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { type Clock, systemClock } from '../../lib/base/clock.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { createExecuteSignal } from '../../lib/host/execute-signal.ts';
import { createReceiveSignal } from '../../lib/host/receive-signal.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { createSqliteMarketCopies } from '../../lib/ledger/sqlite-market-copies.ts';
import { tradedMarkets } from '../../lib/model/settings.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server.ts';
import { createSqliteQueue } from '../../lib/queue/sqlite-queue.ts';
import { createMarketCatalogue } from '../../lib/relay/market-catalogue.ts';
import { createOverloadWatch } from '../../lib/relay/overload.ts';
import type { ExecuteServices, ReceiveServices } from '../../lib/relay/services.ts';
import { testConfig } from './world.ts';

/** Both functions over real stores and a real exchange, called one by one as AWS calls them. */
export interface Functions {
  readonly paper: PaperExchange;
  readonly ledger: Ledger;
  /** What both functions run on; a test may put another part in its place. */
  readonly services: ReceiveServices & ExecuteServices;
  receive(body: string): Promise<APIGatewayProxyResult>;
  execute(signalId: string): Promise<SQSBatchResponse>;
  close(): Promise<void>;
}

const token = 'a-token-of-this-test';

export async function openFunctions(
  replace: (
    services: ReceiveServices & ExecuteServices,
  ) => Partial<ReceiveServices & ExecuteServices> = () => ({}),
  clock: Clock = systemClock,
): Promise<Functions> {
  const { settings } = parseConfig(testConfig);
  const paper = await startPaperExchange({ port: 0, dialect: 'live', walk: false });
  paper.control.setPrice('BTC_USDT', parseDecimal('50000'));
  const credentials = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
  const client = createExchangeClient({ address: paper.url, dialect: 'live', credentials, clock });
  const file = openSqlite(':memory:');
  const ledger = createSqliteLedger(file);
  const copies = createSqliteMarketCopies(file, paper.url);
  const silence = () => undefined;
  const log = { info: silence, warn: silence, error: silence };
  const standard = {
    clock,
    log,
    settings,
    ledger,
    queue: createSqliteQueue(file, { maxReceives: 5, clock }),
    webhookTokens: async () => [token],
    heldSecrets: async () => [token, 'paper-secret'],
    overload: createOverloadWatch(),
    markets: createMarketCatalogue({
      client,
      clock,
      log,
      copies,
      traded: tradedMarkets(settings),
      timeoutMs: 500,
    }),
    isPaperExchange: false,
    exchangeTimeoutMs: 2_000,
    exchangeFor: async () => client,
  };
  const services = { ...standard, ...replace(standard) };
  const receiveSignal = createReceiveSignal(services);
  const executeSignal = createExecuteSignal(services);
  return {
    paper,
    ledger,
    services,
    receive: (body) => receiveSignal(proxyEvent(body)),
    execute: (signalId) =>
      executeSignal(queueEvent(signalId, JSON.stringify({ account: 'main', signalId, market: 'BTC_USDT' }))),
    async close() {
      client.close();
      await paper.close();
      file.close();
    },
  };
}

/** The parts of API Gateway's event that the function reads. */
export function proxyEvent(body: string): APIGatewayProxyEvent {
  return {
    httpMethod: 'POST',
    pathParameters: { account: 'main', token },
    body: Buffer.from(body).toString('base64'),
    isBase64Encoded: true,
  } as unknown as APIGatewayProxyEvent;
}

/** The parts of an SQS event that the function reads. */
export function queueEvent(messageId: string, body: string, group = 'main.BTC_USDT'): SQSEvent {
  const attributes = { MessageGroupId: group, ApproximateReceiveCount: '1' };
  return {
    Records: [{ messageId, receiptHandle: `receipt of ${messageId}`, body, attributes }],
  } as unknown as SQSEvent;
}
