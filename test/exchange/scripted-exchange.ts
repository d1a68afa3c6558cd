import { parseDecimal } from '../../lib/base/decimal.ts';
import type { WireOutcome, WireRequest } from '../../lib/base/wire.ts';
import { createExchangeClient, type ExchangeClient } from '../../lib/exchange/client.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import { ExchangeError } from '../../lib/exchange/errors.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createScriptedTransport } from '../support/scripted-transport.ts';

export const startMs = 1_594_297_865_000;

export const noConnection: WireOutcome = { kind: 'not_sent', reason: 'no connection' };
export const lostResponse: WireOutcome = { kind: 'ambiguous', reason: 'the response was lost' };
export const nonceRefused: WireOutcome = {
  kind: 'answered',
  status: 429,
  body: '{"code":0,"message":"Too many requests.","errors":{}}',
};
export const tooMany: WireOutcome = { kind: 'answered', status: 429, body: 'Too Many Requests' };
export const refused: WireOutcome = {
  kind: 'answered',
  status: 422,
  body: '{"code":31,"message":"No such market"}',
};
export const outage: WireOutcome = { kind: 'answered', status: 503, body: 'unavailable' };
export const balance: WireOutcome = { kind: 'answered', status: 200, body: '{"BTC":{"main_balance":"1"}}' };
export const placed: WireOutcome = {
  kind: 'answered',
  status: 200,
  body: '{"orderId":7,"clientOrderId":"main-1","market":"BTC_USDT","side":"buy","type":"margin stop limit","timestamp":1594297865.5,"dealMoney":"0","dealStock":"0","amount":"1","left":"1","dealFee":"0","price":"2","status":"OPEN"}',
};

export const order = {
  market: 'BTC_USDT',
  side: 'buy',
  amount: parseDecimal('1'),
  price: parseDecimal('2'),
  activationPrice: parseDecimal('2'),
  clientOrderId: 'main-1',
} as const;

/** A transport outcome, or a function that creates it. */
type Step = WireOutcome | ((request: WireRequest) => Promise<WireOutcome>);

/** A client with a key, a transport that returns scripted outcomes, and a clock that only sleeping moves. */
export function connect(steps: readonly Step[], dialect: 'live' | 'documented' = 'live') {
  const clock = createManualClock(startMs);
  const transport = createScriptedTransport(steps);
  const client = createExchangeClient({
    address: 'https://exchange.test',
    dialect,
    credentials: { apiKey: 'key-1', apiSecret: 'secret-1' },
    clock,
    random: () => 0,
    transport,
  });
  const create = (timeoutMs = 10_000) => client.call(stopLimit, order, { timeoutMs });
  const read = (timeoutMs = 10_000) => client.call(mainBalance, {}, { timeoutMs });
  return { clock, transport, client, create, read };
}

/** The request that the live dialect writes to the wire. What the response says does not matter here. */
export async function sentBy(send: (client: ExchangeClient) => Promise<unknown>): Promise<WireRequest> {
  const refused: WireOutcome = { kind: 'answered', status: 422, body: '{"code":30,"message":"No"}' };
  const { client, transport } = connect([refused], 'live');
  await send(client).catch(() => undefined);
  const [request] = transport.sent;
  if (request === undefined) throw new Error('nothing was sent');
  return request;
}

/** The error of a call that must fail. */
export async function failureOf(call: Promise<unknown>): Promise<ExchangeError> {
  const outcome = await call.catch((error: unknown) => error);
  if (outcome instanceof ExchangeError) return outcome;
  throw new Error('the call was expected to fail at the exchange', { cause: outcome });
}

export function nonceOf({ body }: WireRequest): unknown {
  return JSON.parse(body ?? '').nonce;
}
