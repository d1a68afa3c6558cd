import type { Entry } from '../../lib/ledger/entry.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import type { Fill } from '../../lib/model/execution.ts';
import { override } from '../support/override.ts';
import { changeEntries } from './ledger-mutants.ts';
import type { Mutant, Mutation } from './mutation.ts';

/** In few seeds two strategies trade in one spot market, and sales at market end the stop-losses of what they sell. */
const shared = { dialect: 'live', seeds: 300, kinds: ['market'] } as const;

function withoutStrategy(entry: Entry): Entry {
  if (entry.signal?.action !== 'order') return entry;
  const { strategy: _, ...signal } = entry.signal;
  return { ...entry, signal };
}

function isSale({ signal }: Entry): boolean {
  return signal?.action === 'order' && signal.side === 'sell';
}

/** Changes the earlier orders by which one is planned, however they are read. */
function changePlannedOn(change: (entry: Entry) => Entry): Mutation {
  return {
    ledger: (ledger, { handlerName }) =>
      handlerName !== 'execute'
        ? ledger
        : override(ledger, {
            async list(query) {
              const page = await ledger.list(query);
              return { ...page, entries: page.entries.map(change) };
            },
          }),
    executions: (executions, { handlerName }) =>
      handlerName !== 'execute' ? executions : changeFollowed(executions, change),
  };
}

function changeFollowed(executions: Executions, change: (entry: Entry) => Entry): Executions {
  return override(executions, {
    followed: async (account, limit) => (await executions.followed(account, limit)).map(change),
  });
}

function changeFills(executions: Executions, change: (fill: Fill) => Fill): Executions {
  return override(executions, {
    async listFills(query) {
      const page = await executions.listFills(query);
      return { ...page, fills: page.fills.map(change) };
    },
  });
}

/** Broken variants of the relay that mix up what strategies have bought on spot. */
export const spotMutants: readonly Mutant[] = [
  {
    name: 'sale-of-anybody',
    breaks: 'a sale on spot sells what any strategy has bought, whichever it names',
    fromSeed: 207,
    ...shared,
    mutation: {
      ledger: (ledger, { handlerName }) =>
        handlerName === 'execute'
          ? changeEntries(ledger, (entry) => (isSale(entry) ? withoutStrategy(entry) : entry))
          : ledger,
    },
  },
  {
    name: 'buys-of-nobody',
    breaks: 'what another strategy has bought counts for a sale as bought without a name',
    fromSeed: 510,
    ...shared,
    mutation: changePlannedOn((entry) => (isSale(entry) ? entry : withoutStrategy(entry))),
  },
  {
    name: 'sales-against-any',
    breaks: 'what was sold on spot counts against the buys of any strategy',
    fromSeed: 135,
    ...shared,
    mutation: {
      executions: (executions) =>
        changeFollowed(executions, (entry) => (isSale(entry) ? withoutStrategy(entry) : entry)),
    },
  },
  {
    name: 'own-denied',
    breaks: 'what a strategy has bought itself counts for its sale as bought by another one',
    fromSeed: 258,
    ...shared,
    mutation: changePlannedOn((entry) =>
      entry.signal?.strategy === undefined
        ? entry
        : { ...entry, signal: { ...entry.signal, strategy: `${entry.signal.strategy}-other` } },
    ),
  },
  {
    name: 'others-never-sold',
    breaks:
      'in the books a sale on spot closes nothing of what other strategies have bought without a stop-loss',
    fromSeed: 27,
    ...shared,
    kinds: [],
    mutation: {
      executions: (executions) => changeFills(executions, ({ isUnguarded: _, ...fill }) => fill),
    },
  },
];
