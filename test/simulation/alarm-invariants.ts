import { keyText } from './history.ts';
import type { Facts, Violation } from './invariants.ts';

/** Finds responses about another order without an alarm, and such alarms without such a response. */
export function findWrongAlarms(facts: Facts): readonly Violation[] {
  return [...findUnreportedContradictions(facts), ...findFalseContradictions(facts)];
}

function findUnreportedContradictions({ history }: Facts): readonly Violation[] {
  return history.sends
    .filter(({ isContradicted }) => isContradicted)
    .flatMap(({ key }) => key ?? [])
    .filter((key) => !history.hasAlarm(key))
    .map((key) => ({
      invariant: 'I14',
      harm: 'silent',
      text: `${keyText(key)} got a response that reports another order, and no alarm was raised`,
    }));
}

/** Whoever reads false alarms overlooks the true ones. */
function findFalseContradictions({ history }: Facts): readonly Violation[] {
  const contradicted = history.sends.filter(({ isContradicted }) => isContradicted);
  // The operator's tool sends for no signal of its own.
  if (contradicted.some(({ key }) => key === null)) return [];
  const keys = new Set(contradicted.flatMap(({ key }) => (key === null ? [] : keyText(key))));
  return history.alarms
    .filter(({ name }) => name === 'order_contradicted')
    .map(({ facts }) => `${String(facts['account'])} ${String(facts['signalId'])}`)
    .filter((key) => !keys.has(key))
    .map((key) => ({
      invariant: 'I14',
      harm: 'other',
      text: `${key} raised an alarm about another order, and no response reported one`,
    }));
}
