import { createHmac } from 'node:crypto';
import { systemClock } from '../../lib/base/clock.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { Transport } from '../../lib/base/wire.ts';
import { createExchangeClient, type ExchangeClient } from '../../lib/exchange/client.ts';
import { nonceFields, nonceSequenceOf } from '../../lib/exchange/nonce.ts';
import { createSigner } from '../../lib/exchange/signing.ts';
import type { OrderRequest } from '../../lib/model/order.ts';
import { prepareOrder } from '../../lib/orders/order-types.ts';
import { type Spread, spreadOf } from './statistics.ts';
import { orderBodyOf } from './workload.ts';

/** How often a second one thread can sign an order, in three depths. */
export interface SigningRates {
  /** One HMAC-SHA512 and one base64 text of the same bytes, by node:crypto alone. */
  readonly bare: Spread;
  /** Nonce, JSON text and signature. */
  readonly signed: Spread;
  /** The client's whole work on an order but the wire: check, rename, sign, headers, and reading the outcome. */
  readonly sent: Spread;
}

const credentials = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
const order: OrderRequest = {
  type: 'stop_limit',
  market: 'BTC_USDT',
  side: 'buy',
  amount: parseDecimal('0.012345'),
  price: parseDecimal('50200.25'),
  activationPrice: parseDecimal('50100.5'),
  stopLoss: parseDecimal('49000'),
  takeProfit: parseDecimal('52000'),
  clientOrderId: 'tr-0123456789abcdef0123456789abc',
};

/** The rounds of the three alternate, so that a busy moment of the machine meets them all. */
export async function measureSigning(rounds: number, roundMs: number): Promise<SigningRates> {
  const signFully = createFullSigning();
  const client = createUnwiredClient();
  const sendOne = async () => {
    await prepareOrder(client, order).send();
  };
  const rates = { bare: [] as number[], signed: [] as number[], sent: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const measured = {
      bare: await ratePerSecond(signBare, roundMs),
      signed: await ratePerSecond(signFully, roundMs),
      sent: await ratePerSecond(sendOne, roundMs),
    };
    // The first round only warms up.
    if (round === 0) continue;
    rates.bare.push(measured.bare);
    rates.signed.push(measured.signed);
    rates.sent.push(measured.sent);
  }
  return { bare: spreadOf(rates.bare), signed: spreadOf(rates.signed), sent: spreadOf(rates.sent) };
}

const sampleOrderBody = orderBodyOf('tr-0123456789abcdef0123456789abc');

function signBare(): void {
  const payload = Buffer.from(sampleOrderBody, 'utf8').toString('base64');
  createHmac('sha512', credentials.apiSecret).update(payload).digest('hex');
}

function createFullSigning(): () => void {
  const signer = createSigner(credentials.apiKey, credentials.apiSecret);
  const nonces = nonceSequenceOf(systemClock, credentials.apiKey);
  const { type: _, ...fields } = order;
  return () => {
    const nonce = nonceFields('window', nonces.next('window'));
    const body = `{"request":"/api/v4/order/collateral/stop-limit",${nonce},${JSON.stringify(fields).slice(1)}`;
    signer.sign(body);
  };
}

function createUnwiredClient(): ExchangeClient {
  const response = JSON.stringify({
    orderId: 4_180_284_841,
    clientOrderId: order.clientOrderId,
    market: 'BTC_USDT',
    side: 'buy',
    type: 'margin stop limit',
    timestamp: 1_594_605_801.49815,
    dealMoney: '0',
    dealStock: '0',
    amount: '0.012345',
    left: '0.012345',
    dealFee: '0',
    price: '50200.25',
    activation_price: '50100.5',
    status: 'OPEN',
  });
  const transport: Transport = {
    send: async () => ({ kind: 'answered', status: 200, body: response }),
    close: () => undefined,
  };
  // The budget of 1,000 orders a second is the exchange's limit, not this machine's.
  const budgets = { of: () => ({ take: () => 0 }) };
  return createExchangeClient({
    address: 'http://127.0.0.1',
    dialect: 'live',
    credentials,
    transport,
    budgets,
  });
}

async function ratePerSecond(operation: () => void | Promise<void>, durationMs: number): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  let tookMs = 0;
  while (tookMs < durationMs) {
    for (let turn = 0; turn < 100; turn += 1) {
      const result = operation();
      if (result !== undefined) await result;
    }
    count += 100;
    tookMs = performance.now() - startedAt;
  }
  return count / (tookMs / 1000);
}
