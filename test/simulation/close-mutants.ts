import type { Entry } from '../../lib/ledger/entry.ts';
import { isPositionSignal } from '../../lib/model/signal.ts';
import { override } from '../support/override.ts';
import { changeEntries } from './ledger-mutants.ts';
import type { Mutant } from './mutation.ts';

/** Position actions make market orders alone, but the entries that rest are of any kind. */
const kinds = [] as const;

/** Broken variants of the relay whose closes leave something behind. */
export const closeMutants: readonly Mutant[] = [
  {
    name: 'entries-left-resting',
    breaks: 'a close does not cancel the entries that rest in its market',
    seeds: 300,
    fromSeed: 22,
    dialect: 'live',
    kinds,
    mutation: {
      ledger: (ledger, { handlerName }) =>
        handlerName === 'execute'
          ? changeEntries(ledger, (entry) =>
              entry.signal !== null && isPositionSignal(entry.signal)
                ? { ...entry, signal: { ...entry.signal, keepEntries: true } }
                : entry,
            )
          : ledger,
    },
  },
  {
    name: 'rest-untried',
    breaks: 'what a close leaves in a thin book is not closed again',
    seeds: 300,
    fromSeed: 67,
    dialect: 'live',
    kinds,
    mutation: {
      ledger: (ledger) =>
        override(ledger, {
          async accept(entries, refusal) {
            const kept = entries.filter(({ signalId }) => !/:rest-\d$/.test(signalId));
            if (kept.length === entries.length) return await ledger.accept(entries, refusal);
            return { result: 'stored', signals: [] };
          },
        }),
    },
  },
  {
    name: 'silent-rest',
    breaks: 'a close that fills in part raises no alarm',
    seeds: 300,
    fromSeed: 191,
    dialect: 'live',
    kinds: ['market'],
    mutation: {
      alarms: (alarms) =>
        override(alarms, {
          raise(alarm, facts) {
            if (alarm.name !== 'close_incomplete') alarms.raise(alarm, facts);
          },
        }),
    },
  },
  {
    name: 'bound-anew',
    breaks: 'a further try of a close may fill beyond the bound of its first order',
    seeds: 100,
    fromSeed: 191,
    dialect: 'live',
    kinds,
    mutation: { ledger: (ledger) => changeEntries(ledger, withoutWorst) },
  },
];

function withoutWorst(entry: Entry): Entry {
  if (entry.signal?.action !== 'close') return entry;
  const { worstPrice: _, ...signal } = entry.signal;
  return { ...entry, signal };
}
