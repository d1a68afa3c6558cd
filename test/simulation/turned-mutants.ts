import type { Decimal } from '../../lib/base/decimal.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import { type FillRole, isOfExit } from '../../lib/model/execution.ts';
import { override } from '../support/override.ts';
import { changeCreates } from './mutate.ts';
import type { Mutant } from './mutation.ts';
import { currentInvocation } from './process.ts';

/** Whether what runs at the moment closes what an exit has turned. */
function isCorrecting(): boolean {
  const running = currentInvocation();
  return /:turned-/.test((running?.sender ?? running?.key)?.signalId ?? '');
}

/** Takes fills for those of other orders than they are. */
function changeRoles(
  executions: Executions,
  isDue: () => boolean,
  change: (role: FillRole) => FillRole,
): Executions {
  return override(executions, {
    async listFills(query) {
      const page = await executions.listFills(query);
      if (!isDue()) return page;
      return { ...page, fills: page.fills.map((fill) => ({ ...fill, role: change(fill.role) })) };
    },
  });
}

const shared = { dialect: 'live', kinds: [] } as const;

/** Broken variants of the relay that close positions which exits have turned wrongly, or not. */
export const turnedMutants: readonly Mutant[] = [
  {
    name: 'opening-correction',
    breaks: 'what closes a turned position is sent without reduce-only',
    seeds: 300,
    fromSeed: 169,
    ...shared,
    mutation: {
      client: (client) =>
        changeCreates(client, (params) => (isCorrecting() ? { ...params, reduceOnly: undefined } : params)),
    },
  },
  {
    name: 'whole-correction',
    breaks: 'what closes a turned position takes what any order opened for what an exit opened',
    seeds: 1000,
    fromSeed: 2644,
    ...shared,
    mutation: { executions: (executions) => changeRoles(executions, isCorrecting, () => 'stop_loss') },
  },
  {
    name: 'large-correction',
    breaks: 'what closes a turned position is twice what the exit opened',
    seeds: 300,
    fromSeed: 169,
    ...shared,
    mutation: {
      client: (client) =>
        changeCreates(client, (params) => {
          const { amount } = params as { readonly amount: Decimal };
          return isCorrecting() ? { ...params, amount: amount.times('2') } : params;
        }),
    },
  },
  {
    name: 'overlooked-turn',
    breaks: 'a position that an exit has turned is not looked for',
    seeds: 300,
    fromSeed: 979,
    ...shared,
    mutation: {
      executions: (executions) =>
        changeRoles(
          executions,
          () => currentInvocation()?.handlerName === 'reconcile',
          (role) => (isOfExit({ role }) ? 'order' : role),
        ),
    },
  },
  {
    name: 'silent-correction',
    breaks: 'nobody is told of a position that an exit has turned',
    seeds: 300,
    fromSeed: 127,
    ...shared,
    mutation: {
      alarms: (alarms) =>
        override(alarms, {
          raise(alarm, facts) {
            if (alarm.name !== 'position_turned') alarms.raise(alarm, facts);
          },
        }),
    },
  },
  {
    name: 'silent-gap',
    breaks: 'nobody is told of a position that a stop by hand has turned which filled beside an exit',
    seeds: 300,
    fromSeed: 1640,
    ...shared,
    mutation: {
      alarms: (alarms) =>
        override(alarms, {
          raise(alarm, facts) {
            if (alarm.name !== 'position_turned' || facts['signalId'] !== undefined)
              alarms.raise(alarm, facts);
          },
        }),
    },
  },
];
