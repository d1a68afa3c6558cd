import type { Settings } from '../../lib/model/settings.ts';
import type { Mutant } from './mutation.ts';

/** Relays that make something else of an order than they should. */
export const orderMutants: readonly Mutant[] = [
  {
    name: 'no-collar',
    breaks: 'a limit price may lie anywhere beyond its stop price',
    seeds: 100,
    dialect: 'live',
    mutation: { settings: removeCollars },
  },
];

function removeCollars(settings: Settings): Settings {
  const accounts = Object.entries(settings.accounts).map(([name, account]) => [
    name,
    { ...account, maxLimitDistanceRate: null },
  ]);
  return { ...settings, accounts: Object.fromEntries(accounts) };
}
