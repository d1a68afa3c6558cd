import { createServer } from 'node:http';
import { serveParent } from './bench-process.ts';
import { listenLocally } from './listen-locally.ts';
import { bases } from './workload.ts';

/** An exchange that takes every stop-limit order at once and keeps none; what remains is what asking costs. */
const markets = JSON.stringify(
  bases.map((base) => ({
    name: `${base}_USDT`,
    stock: base,
    money: 'USDT',
    stockPrec: '6',
    moneyPrec: '2',
    makerFee: '0.1',
    takerFee: '0.1',
    minAmount: '0.0001',
    minTotal: '5.05',
    maxTotal: '0',
    tradesEnabled: true,
    isCollateral: true,
    type: 'spot',
  })),
);

interface AskedOrder {
  readonly market: string;
  readonly side: string;
  readonly amount: string;
  readonly price: string;
  readonly activation_price: string;
  readonly stopLoss: string;
  readonly takeProfit: string;
  readonly clientOrderId: string;
}

let lastOrderId = 4_180_284_840;

/** The live service's response, as its written example has it. */
function takeOrder(order: AskedOrder): string {
  lastOrderId += 1;
  return JSON.stringify({
    orderId: lastOrderId,
    clientOrderId: order.clientOrderId,
    market: order.market,
    side: order.side,
    type: 'margin stop limit',
    timestamp: 1_594_605_801.49815,
    dealMoney: '0',
    dealStock: '0',
    amount: order.amount,
    left: order.amount,
    dealFee: '0',
    price: order.price,
    activation_price: order.activation_price,
    activationCondition: 'gte',
    activated: 0,
    status: 'OPEN',
    stp: 'no',
    positionSide: 'LONG',
    reduceOnly: false,
    oto: { otoId: lastOrderId, stopLoss: order.stopLoss, takeProfit: order.takeProfit },
  });
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', () => {
      const isOrder = request.method === 'POST';
      const body = isOrder ? takeOrder(JSON.parse(Buffer.concat(chunks).toString('utf8'))) : markets;
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    });
});

serveParent(await listenLocally(server));
