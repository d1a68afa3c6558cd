import { createServer } from 'node:http';
import { serveParent } from './bench-process.ts';
import { createForwarder } from './forward-order.ts';
import { listenLocally } from './listen-locally.ts';

/**
 * The least a program can do that receives an alert and places an order: it reads the request, signs one body, sends
 * one request, and answers. It checks nothing, stores nothing, and forgets everything in a crash. The path of the
 * request is the client order id.
 */
const forwardOrder = createForwarder(process.argv[2] ?? '');

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', () =>
      forwardOrder((request.url ?? '').slice(1), (body) =>
        response.writeHead(202, { 'content-type': 'application/json' }).end(body),
      ),
    );
});

serveParent(await listenLocally(server));
