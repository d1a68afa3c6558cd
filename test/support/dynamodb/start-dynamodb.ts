import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamodbClient, type DynamodbClient } from '../../../lib/base/dynamodb.ts';
import { createRandom, type Random } from '../../../lib/base/random.ts';
import { accessOf } from '../aws-access.ts';
import { Failure } from './failure.ts';
import { Operations } from './operations.ts';

/**
 * A DynamoDB of its own in this process, kept in memory and gone when it is closed.
 *
 * @see DECISIONS 80
 */
export interface LocalDynamodb {
  readonly url: string;
  /** AWS's own client, pointed here; more of them may be made with `clientOptions`. */
  readonly client: DynamoDBClient;
  /** The relay's. */
  readonly relayClient: DynamodbClient;
  readonly clientOptions: {
    readonly endpoint: string;
    readonly region: string;
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  };
  /** Eventually consistent reads and global indexes show a write only some requests later; null: at once again. */
  lagBehind(random: Random | null): void;
  /** Transactions from now on take hold of their items, and write when this is resolved. */
  holdTransactionsUntil(released: Promise<void>): void;
  close(): Promise<void>;
}

/**
 * Stands in for DynamoDB where it matters to this project: conditional writes, transactions, indexes, paging, limits.
 *
 * It answers on loopback over HTTP, so that an unmodified client talks to it. It knows no capacity, no bytes, no
 * expiry and no legacy parameters; an operation it does not know, it refuses.
 *
 * @param seed decides which batches are answered in part only
 */
export async function startDynamodb(seed = 1): Promise<LocalDynamodb> {
  const operations = new Operations(createRandom(seed));
  const server = createServer((request, response) => void answer(operations, request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clientOptions = {
    endpoint: url,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  };
  const client = new DynamoDBClient(clientOptions);
  const access = accessOf(clientOptions);
  return {
    url,
    client,
    relayClient: createDynamodbClient(access),
    clientOptions,
    lagBehind: (random) => operations.lagBehind(random),
    holdTransactionsUntil: (released) => operations.transactions.holdUntil(released),
    async close() {
      client.destroy();
      access.transport.close();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answer(
  operations: Operations,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const name = String(request.headers['x-amz-target']).replace('DynamoDB_20120810.', '');
  const send = (status: number, content: object) =>
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(content));
  try {
    send(200, await operations.handle(name, JSON.parse(Buffer.concat(chunks).toString('utf8'))));
  } catch (error) {
    // A fault of the stand-in itself: said in its own words, and in a way no client tries again.
    const failure =
      error instanceof Failure ? error : new Failure('StandInFault', String((error as Error).stack));
    send(400, formatFailure(failure));
  }
}

function formatFailure({ kind, message, more }: Failure): object {
  const space =
    kind === 'ValidationException' ? 'com.amazon.coral.validate' : 'com.amazonaws.dynamodb.v20120810';
  return { __type: `${space}#${kind}`, message, ...more };
}
