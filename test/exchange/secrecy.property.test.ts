import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { WireOutcome, WireRequest } from '../../lib/base/wire.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { dialects } from '../../lib/exchange/dialect.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { runs } from '../support/runs.ts';
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

/** An order request with texts that the relay stores and shows. */
function acceptance(text: string) {
  const ids = { orderId: 7, order_id: 7, clientOrderId: text, client_order_id: text };
  const zeros = {
    dealMoney: '0',
    dealStock: '0',
    dealFee: '0',
    deal_money: '0',
    deal_stock: '0',
    deal_fee: '0',
  };
  const amounts = { ...zeros, amount: '1', left: '1', price: '2', timestamp: 1 };
  return { ...ids, ...amounts, market: text, side: 'sell', type: text, status: 'FILLED', stp: text };
}

/** Escapes every character of every text as `\u…`, which JSON decodes to the character. */
function escapeTexts(json: string): string {
  return json.replaceAll(/[A-Za-z0-9+/=]/g, (character, at: number) =>
    isWithinText(json, at) ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : character,
  );
}

function isWithinText(json: string, at: number): boolean {
  return (json.slice(0, at).split('"').length - 1) % 2 === 1;
}

/** An exchange that returns everything it received, in any form. It even knows the secret. */
function echo(status: number, form: number, secret: string): (request: WireRequest) => Promise<WireOutcome> {
  return async ({ headers, body }) => {
    const all = `${Object.values(headers).join(' ')} ${secret}`;
    const refusal = JSON.stringify({ code: 30, message: all, errors: { [all]: [all] } });
    const bodies = [
      JSON.stringify(acceptance(all)),
      JSON.stringify(acceptance(JSON.stringify({ headers: all }))),
      escapeTexts(JSON.stringify(acceptance(all))),
      escapeTexts(refusal),
      // Escaped once more, as in a log line that is itself JSON.
      JSON.stringify(acceptance(escapeTexts(JSON.stringify({ all })))),
      JSON.stringify({ code: 30, message: all, errors: { [all]: [all, ...Object.values(headers)] } }),
      JSON.stringify({ code: 30, message: 'm', errors: { x: Object.values(headers) } }),
      JSON.stringify({ order_id: all, orderId: all, status: all, [all]: all }),
      `<html>${all} ${body}</html>`,
      all,
    ];
    return { kind: 'answered', status, body: bodies[form] ?? '' };
  };
}

const confidentialHeaders = ['X-TXC-SIGNATURE', 'X-TXC-PAYLOAD'];

/** Decodes escapes as a reader would. */
function decodeEscapes(text: string): string {
  return text.replaceAll(/\\+u([0-9a-f]{4})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

describe('secrets', () => {
  test('appear in no header, body or error, whatever the exchange responds', async () => {
    await fc.assert(
      fc.asyncProperty(
        secretText,
        secretText,
        fc.constantFrom(...dialects),
        fc.constantFrom(200, 400, 401, 403, 404, 422, 429, 500),
        fc.nat({ max: 9 }),
        async (apiKey, apiSecret, dialect, status, form) => {
          fc.pre(apiKey !== apiSecret);
          const transport = createScriptedTransport(Array(20).fill(echo(status, form, apiSecret)));
          const client = createExchangeClient({
            address: 'https://exchange.test',
            dialect,
            credentials: { apiKey, apiSecret },
            clock: createManualClock(1_594_297_865_000),
            random: () => 0,
            transport,
          });

          const outcome = await client.call(stopLimit, order, { timeoutMs: 500 }).catch((reason) => reason);

          const told = decodeEscapes(inspect(outcome, { depth: 9 }));
          const [first] = transport.sent;
          expect(outcome instanceof Error).toBe(status !== 200 || form > 4 || form === 3);
          expect(JSON.stringify(transport.sent)).not.toContain(apiSecret);
          for (const secret of [
            apiSecret,
            apiKey,
            ...confidentialHeaders.map((name) => first?.headers[name]),
          ])
            expect(told).not.toContain(secret);
          expect(inspect(client, { depth: 9 })).not.toContain(apiSecret);
        },
      ),
      { seed: 20_260_422, numRuns: runs(500) },
    );
  });
});
