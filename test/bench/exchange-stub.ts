import { createServer } from 'node:http';
import { type Arrival, readMonotonicMs, serveParent } from './bench-process.ts';
import { listenLocally } from './listen-locally.ts';
import { nameBases } from './workload.ts';

/**
 * An exchange that takes every order at once and keeps none; what remains is what asking costs. A stop-limit order
 * waits, a limit order fills.
 */
const markets = JSON.stringify(
  nameBases(Number(process.argv[2] ?? 8)).map((base) => ({
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

/** As the live service writes it with `limit=1`. */
const orderBook = JSON.stringify({
  ticker_id: 'BTC_USDT',
  timestamp: 1_767_268_800,
  asks: [['50000.25', '1.5']],
  bids: [['50000.15', '1.5']],
});

interface AskedOrder {
  readonly market: string;
  readonly side: string;
  readonly amount: string;
  readonly price: string;
  readonly activation_price?: string;
  readonly stopLoss: string;
  readonly takeProfit: string;
  readonly clientOrderId: string;
}

function isOrder(asked: Partial<AskedOrder>): asked is AskedOrder {
  return asked.clientOrderId !== undefined && asked.amount !== undefined;
}

let lastOrderId = 4_180_284_840;

/** The live service's response, as its written example has it. */
function takeOrder(order: AskedOrder): string {
  lastOrderId += 1;
  const waits = order.activation_price !== undefined;
  const { amount, price, activation_price } = order;
  const state = waits
    ? {
        type: 'margin stop limit',
        dealMoney: '0',
        dealStock: '0',
        left: amount,
        dealFee: '0',
        activation_price,
        activationCondition: 'gte',
        activated: 0,
        status: 'OPEN',
      }
    : {
        type: 'margin limit',
        dealMoney: '617.25308625',
        dealStock: amount,
        left: '0',
        dealFee: '0.61725308625',
        ioc: true,
        status: 'FILLED',
      };
  return JSON.stringify({
    orderId: lastOrderId,
    clientOrderId: order.clientOrderId,
    market: order.market,
    side: order.side,
    timestamp: 1_594_605_801.49815,
    amount,
    price,
    ...state,
    stp: 'no',
    positionSide: 'LONG',
    reduceOnly: false,
    oto: { otoId: lastOrderId, stopLoss: order.stopLoss, takeProfit: order.takeProfit },
  });
}

/** What it serves besides orders: the order book, the currencies, its time, and whatever else is asked for is the markets. */
function serveList(url: string): string {
  if (url.startsWith('/api/v4/public/orderbook/')) return orderBook;
  if (url.startsWith('/api/v4/public/time')) return JSON.stringify({ time: Math.floor(Date.now() / 1000) });
  return url.startsWith('/api/v4/public/assets') ? '{}' : markets;
}

const arrivals: Arrival[] = [];
/** The responses that wait while the stub holds orders back; null when it does not. */
let held: (() => void)[] | null = null;

function receiveOrder(order: AskedOrder, receivedAtMs: number, respond: (body: string) => void): void {
  arrivals.push([order.clientOrderId, receivedAtMs]);
  if (held === null) respond(takeOrder(order));
  else held.push(() => respond(takeOrder(order)));
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', () => {
      const receivedAtMs = readMonotonicMs();
      const respond = (body: string) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      if (request.method !== 'POST') {
        respond(serveList(request.url ?? ''));
        return;
      }
      const asked = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Partial<AskedOrder>;
      if (isOrder(asked)) receiveOrder(asked, receivedAtMs, respond);
      // Before its first order the relay reads what an account holds and has traded: nothing.
      else respond('[]');
    });
});

serveParent(await listenLocally(server), {
  'take-arrivals': () => arrivals.splice(0),
  hold() {
    held ??= [];
    return null;
  },
  release() {
    for (const respond of held ?? []) respond();
    held = null;
    return null;
  },
});
