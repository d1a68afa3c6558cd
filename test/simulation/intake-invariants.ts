import { clockToleranceMs, limitWindowMs } from '../../lib/ledger/ledger.ts';
import { fingerprintOf } from '../../lib/signals/identity.ts';
import type { Facts, Violation } from './invariants.ts';
import { slowestStepMs } from './process.ts';
import { settings } from './simulated-world.ts';

/** Whether alerts were taken in as a whole, and turned away only for a reason that held. */
export function findWrongIntake(facts: Facts): readonly Violation[] {
  return [...findTorn(facts), ...findLockOuts(facts)];
}

/** Of an alert that can never succeed, nothing is stored but the refusal. */
function findTorn({ history, entries }: Facts): readonly Violation[] {
  const stored = Map.groupBy(
    entries.filter(({ signal }) => signal !== null),
    ({ fingerprint }) => fingerprint,
  );
  const signalsOf = (body: string) => stored.get(fingerprintOf(Buffer.from(body))) ?? [];
  return history.answers
    .filter(({ alert }) => Array.isArray(JSON.parse(alert.body)))
    .filter(({ alert }) => {
      const found = signalsOf(alert.body).length;
      return found > 0 && found < (JSON.parse(alert.body) as readonly unknown[]).length;
    })
    .map(({ alert }) => ({
      invariant: 'I13',
      harm: 'other',
      text: `of ${alert.name}, an alert of several signals, only some are stored`,
    }));
}

/** The times of what was counted lie within one minute of the clock that counted. */
const widestMs = limitWindowMs + clockToleranceMs + slowestStepMs;

/** The account is full for a minute at most, whatever its clock does. */
function findLockOuts({ entries }: Facts): readonly Violation[] {
  return entries
    .filter(({ status, steps }) => status === 'invalid' && isOverLimit(steps[0]?.evidence))
    .filter(({ account, createdAtMs }) => {
      const most = settings.accounts[account]?.maxSignalsPerMinute ?? 0;
      const near = entries.filter(
        (other) =>
          other.account === account &&
          other.signal !== null &&
          other.createdAtMs > createdAtMs - widestMs &&
          other.createdAtMs <= createdAtMs + clockToleranceMs,
      );
      // An alert holds two signals at most.
      return near.length < most - 1;
    })
    .map(({ account, signalId }) => ({
      invariant: 'I12',
      harm: 'other',
      text: `${signalId} of ${account} was turned away as one too many, although few came within the minute`,
    }));
}

function isOverLimit(evidence: unknown): boolean {
  return (
    typeof evidence === 'object' &&
    evidence !== null &&
    'code' in evidence &&
    evidence.code === 'rate_limited'
  );
}
