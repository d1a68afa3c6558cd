import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { connectCcxt } from '../clients/ccxt.ts';
import { serveParent } from './bench-process.ts';
import { listenLocally } from './listen-locally.ts';

/**
 * What people write themselves: a web server that hands each alert to the library ccxt. It stores nothing. The path of
 * the request is the client order id. The markets are loaded before the first alert, and the library's own limit of 20
 * requests a second is off: it would be the only thing measured.
 */
const exchange = Object.assign(await connectCcxt(process.argv[2] ?? '', 'paper-key', 'paper-secret'), {
  enableRateLimit: false,
});
await exchange.loadMarkets();

interface Alert {
  readonly ticker: string;
  readonly action: string;
  readonly quantity: string;
  readonly stopPrice: string;
  readonly limitPrice: string;
  readonly stopLoss: string;
  readonly takeProfit: string;
}

async function placeOrder(clientOrderId: string, alert: Alert): Promise<unknown> {
  const symbol = alert.ticker.replace(/USDT$/, '/USDT');
  const { stopPrice: triggerPrice, stopLoss, takeProfit } = alert;
  const params = { triggerPrice, clientOrderId, stopLoss, takeProfit };
  const { quantity, limitPrice } = alert;
  return await exchange.createOrder(
    symbol,
    'limit',
    alert.action,
    Number(quantity),
    Number(limitPrice),
    params,
  );
}

const server = createServer(async (request, response) => {
  const alert = JSON.parse((await buffer(request)).toString('utf8')) as Alert;
  const order = await placeOrder((request.url ?? '').slice(1), alert);
  response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify(order));
});

serveParent(await listenLocally(server));
