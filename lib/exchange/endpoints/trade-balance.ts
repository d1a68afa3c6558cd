import * as z from 'zod/mini';
import type { SpotBalance } from '../../model/holdings.ts';
import { defineEndpoint } from '../endpoint.ts';
import { DecimalField } from '../fields.ts';

const BalanceField: z.ZodMiniType<SpotBalance> = z.object({ available: DecimalField, freeze: DecimalField });

/**
 * The balances for spot trading by ticker. A missing ticker has no balance.
 *
 * The service also takes a ticker; some clients then received the bare balance, others a record of one.
 */
export const tradeBalance = defineEndpoint({
  name: 'trade-balance',
  method: 'POST',
  path: { documented: '/api/v4/trade-account/balance', live: '/api/v4/trade-account/balance' },
  access: 'private',
  availability: 'live-only',
  repeatable: true,
  // The documents publish 12 000 for all of trade-account together.
  requestsPer10s: 1000,
  params: z.strictObject({}),
  result: z.record(z.string(), BalanceField),
  source: {
    url: 'https://docs.whitebit.com/api-reference/spot-trading/trading-balance',
    readOn: '2026-11-22',
  },
});
