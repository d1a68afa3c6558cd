import { markets as marketList } from '../../lib/exchange/endpoints/markets.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { override } from '../support/override.ts';
import type { Mutant } from './mutation.ts';

/** Broken variants of the relay that size or price orders wrongly, or misuse the market list. */
export const orderMutants: readonly Mutant[] = [
  {
    name: 'no-collar',
    breaks: 'the distance of a limit price from its stop price is not checked',
    seeds: 100,
    fromSeed: 31,
    dialect: 'live',
    mutation: { settings: removeCollars },
    // The limit price of a plain limit order is not compared with another price.
    kinds: ['stop_limit'],
  },
  {
    name: 'no-copy',
    breaks: 'no copy of the market list is used while the list does not respond',
    seeds: 100,
    dialect: 'live',
    mutation: {
      markets: (catalogue, client) => ({
        async find(name) {
          await client.call(marketList, {}, { timeoutMs: 5000 });
          return await catalogue.find(name);
        },
      }),
    },
  },
  {
    name: 'waiting-signals',
    breaks: 'a signal waits until the market list is read again, although a copy is in memory',
    seeds: 100,
    dialect: 'live',
    mutation: {
      markets: (catalogue, client) => ({
        async find(name) {
          await client.call(marketList, {}, { timeoutMs: 5000 }).catch(() => null);
          return await catalogue.find(name);
        },
      }),
    },
  },
  {
    name: 'forgotten-copy',
    breaks: 'the stored market list is not loaded after a start',
    seeds: 100,
    dialect: 'live',
    mutation: { copies: (copies) => override(copies, { load: async () => null }) },
  },
];

function removeCollars(settings: Settings): Settings {
  const accounts = Object.entries(settings.accounts).map(([name, account]) => [
    name,
    { ...account, maxLimitDistanceRate: null },
  ]);
  return { ...settings, accounts: Object.fromEntries(accounts) };
}
