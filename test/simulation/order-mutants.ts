import { markets as marketList } from '../../lib/exchange/endpoints/markets.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { override } from '../support/override.ts';
import type { Mutant } from './mutation.ts';

/** Relays that make something else of an order than they should. */
export const orderMutants: readonly Mutant[] = [
  {
    name: 'no-collar',
    breaks: 'a limit price may lie anywhere beyond its stop price',
    seeds: 100,
    dialect: 'live',
    mutation: { settings: removeCollars },
    // The limit price of a plain limit order is held against nothing.
    kinds: ['stop_limit'],
  },
  {
    name: 'no-copy',
    breaks: 'no copy of the market list is served while the list is silent',
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
    breaks: 'a signal waits until the market list was read anew, although a copy is held',
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
    breaks: 'the kept market list is not loaded after a start',
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
