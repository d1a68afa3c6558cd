import { createHmac } from 'node:crypto';
import { Agent, createServer, request as issueRequest, type ServerResponse } from 'node:http';
import { serveParent } from './bench-process.ts';
import { listenLocally } from './listen-locally.ts';
import { sampleOrderBody } from './workload.ts';

/**
 * The least a program can do that receives an alert and places an order: read the request, sign one body, one hop,
 * answer. It checks nothing, keeps nothing and forgets everything in a crash.
 */
const exchangeUrl = new URL(process.argv[2] ?? '');
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const { hostname, port } = exchangeUrl;

function placeOrder(response: ServerResponse): void {
  const payload = Buffer.from(sampleOrderBody, 'utf8').toString('base64');
  const signature = createHmac('sha512', 'paper-secret').update(payload).digest('hex');
  const headers = {
    'Content-type': 'application/json',
    'X-TXC-APIKEY': 'paper-key',
    'X-TXC-PAYLOAD': payload,
    'X-TXC-SIGNATURE': signature,
  };
  const path = '/api/v4/order/collateral/stop-limit';
  issueRequest({ hostname, port, agent, method: 'POST', path, headers }, (answer) => {
    const chunks: Buffer[] = [];
    answer
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () =>
        response.writeHead(202, { 'content-type': 'application/json' }).end(Buffer.concat(chunks)),
      );
  }).end(sampleOrderBody);
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => placeOrder(response));
});

serveParent(await listenLocally(server));
