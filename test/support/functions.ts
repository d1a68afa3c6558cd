import type { APIGatewayProxyEvent, APIGatewayProxyResult, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { type Clock, systemClock } from '../../lib/base/clock.ts';
import { createWebhook } from '../../lib/host/webhook.ts';
import { createWorker } from '../../lib/host/worker.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import type { PaperExchange } from '../../lib/paper/server/server.ts';
import type { SqliteLine } from '../../lib/queue/sqlite-line.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { createFollower } from '../../lib/relay/follow/follow-orders.ts';
import { receiveSignal } from '../../lib/relay/receive/receive-signal.ts';
import { runMinute } from '../../lib/relay/settle/run-minute.ts';
import type { RaisedAlarm } from './record-alarms.ts';
import { openServices, type RelayServices, token } from './relay-services.ts';

/** The functions over real stores and a real exchange, called one by one as AWS calls them. */
export interface Functions {
  readonly paper: PaperExchange;
  readonly ledger: Ledger;
  /** What both functions run on; a test may put another part in its place. */
  readonly services: RelayServices;
  /** The alarms that were raised, oldest first. */
  readonly raised: readonly RaisedAlarm[];
  /** The signals that wait in the ledger. */
  readonly line: SqliteLine;
  receive(body: string): Promise<APIGatewayProxyResult>;
  execute(signalId: string): Promise<SQSBatchResponse>;
  /** Runs the reconciler, as its schedule does every minute. */
  reconcile(): Promise<void>;
  close(): Promise<void>;
}

export async function openFunctions(
  replace: (services: RelayServices) => Partial<RelayServices> = () => ({}),
  clock: Clock = systemClock,
): Promise<Functions> {
  const { paper, services: standard, line, raised, close } = await openServices({ dialect: 'live', clock });
  const services = { ...standard, ...replace(standard) };
  const receive = createWebhook(services.log, (request) => receiveSignal(services, request));
  const execute = createWorker(
    services.log,
    (message) => executeSignal(services, message),
    async () => undefined,
  );
  const follower = createFollower(services);
  return {
    paper,
    ledger: standard.ledger,
    services,
    raised,
    line,
    receive: (body) => receive(proxyEvent(body)),
    execute: (signalId) =>
      execute(queueEvent(signalId, JSON.stringify({ account: 'main', signalId, market: 'BTC_USDT' }))),
    reconcile: () => runMinute(services, follower),
    close,
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
export function queueEvent(
  messageId: string,
  body: string,
  group = 'main.BTC_USDT',
  receiveCount = 1,
): SQSEvent {
  const attributes = { MessageGroupId: group, ApproximateReceiveCount: String(receiveCount) };
  return {
    Records: [{ messageId, receiptHandle: `receipt of ${messageId}`, body, attributes }],
  } as unknown as SQSEvent;
}
