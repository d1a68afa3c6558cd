import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { dialects } from '../../lib/exchange/dialect.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import type { WireOutcome, WireRequest } from '../../lib/exchange/transport.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createScriptedTransport } from '../support/scripted-transport.ts';

const order = {
  market: 'BTC_USDT',
  side: 'sell',
  amount: parseDecimal('1'),
  price: parseDecimal('2'),
  activationPrice: parseDecimal('2'),
  clientOrderId: 'main-1',
} as const;

const secretText = fc.stringMatching(/^[A-Za-z0-9]{32,64}$/);

/** An exchange that throws everything it was sent back at us, in any form. */
function echo(status: number, form: number): (request: WireRequest) => Promise<WireOutcome> {
  return async ({ headers, body }) => {
    const all = Object.values(headers).join(' ');
    const bodies = [
      JSON.stringify({ code: 30, message: all, errors: { [all]: [all, ...Object.values(headers)] } }),
      JSON.stringify({ code: 30, message: 'm', errors: { x: Object.values(headers) } }),
      JSON.stringify({ order_id: all, orderId: all, status: all, [all]: all }),
      `<html>${all} ${body}</html>`,
      all,
    ];
    return { kind: 'answered', status, body: bodies[form] ?? '' };
  };
}

describe('secrets', () => {
  test('reach no header, no body and no error, whatever the exchange answers', async () => {
    await fc.assert(
      fc.asyncProperty(
        secretText,
        secretText,
        fc.constantFrom(...dialects),
        fc.constantFrom(200, 400, 401, 403, 404, 422, 429, 500),
        fc.nat({ max: 4 }),
        async (apiKey, apiSecret, dialect, status, form) => {
          fc.pre(apiKey !== apiSecret);
          const transport = createScriptedTransport(Array(20).fill(echo(status, form)));
          const client = createExchangeClient({
            address: 'https://exchange.test',
            dialect,
            credentials: { apiKey, apiSecret },
            clock: createManualClock(1_594_297_865_000),
            random: () => 0,
            transport,
          });

          const error = await client.call(stopLimit, order, { timeoutMs: 500 }).catch((reason) => reason);

          const told = inspect(error, { depth: 9 });
          const [first] = transport.sent;
          expect(error).toBeInstanceOf(Error);
          expect(JSON.stringify(transport.sent)).not.toContain(apiSecret);
          for (const secret of [apiSecret, apiKey, first?.headers['X-TXC-SIGNATURE']])
            expect(told).not.toContain(secret);
          expect(inspect(client, { depth: 9 })).not.toContain(apiSecret);
        },
      ),
      { seed: 20_260_422, numRuns: 200 },
    );
  });
});
