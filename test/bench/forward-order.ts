import { createHmac } from 'node:crypto';
import { Agent, request as issueRequest } from 'node:http';
import { orderBodyOf } from './workload.ts';

/** Sends one order to the exchange: one HMAC and one request. Calls back with the response's body. */
export type ForwardOrder = (clientOrderId: string, onResponse: (body: Buffer) => void) => void;

/** The work that every order needs, whoever places it. Bare server and durable floor share it. */
export function createForwarder(exchangeUrl: string): ForwardOrder {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const { hostname, port } = new URL(exchangeUrl);
  const path = '/api/v4/order/collateral/stop-limit';
  return (clientOrderId, onResponse) => {
    const body = orderBodyOf(clientOrderId);
    const payload = Buffer.from(body, 'utf8').toString('base64');
    const signature = createHmac('sha512', 'paper-secret').update(payload).digest('hex');
    const headers = {
      'Content-type': 'application/json',
      'X-TXC-APIKEY': 'paper-key',
      'X-TXC-PAYLOAD': payload,
      'X-TXC-SIGNATURE': signature,
    };
    issueRequest({ hostname, port, agent, method: 'POST', path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => onResponse(Buffer.concat(chunks)));
    }).end(body);
  };
}
