import { clockToleranceMs, limitWindowMs } from '../../lib/ledger/ledger.ts';
import { fingerprintOf } from '../../lib/signals/identity.ts';
import { type History, widestSkewMs } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { slowestStepMs } from './process.ts';
import { settings } from './simulated-world.ts';

/** Finds alerts that were stored in part, or refused without a valid reason. */
export function findWrongIntake(facts: Facts): readonly Violation[] {
  return [...findTorn(facts), ...findLockOuts(facts)];
}

/** Finds alerts of several signals of which only some are stored. */
function findTorn({ history, entries }: Facts): readonly Violation[] {
  const stored = Map.groupBy(
    entries.filter(({ signal }) => signal !== null),
    ({ fingerprint }) => fingerprint,
  );
  const signalsOf = (body: string) => stored.get(fingerprintOf(Buffer.from(body))) ?? [];
  return history.responses
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

/** The counted signals have times within one minute of the clock that counted them. */
const widestMs = limitWindowMs + clockToleranceMs + slowestStepMs;

/**
 * Finds refusals over the limit although few signals came within the minute, for example after a clock was
 * set back.
 */
function findLockOuts({ entries, history }: Facts): readonly Violation[] {
  return entries
    .filter(({ status, steps }) => status === 'invalid' && isOverLimit(steps[0]?.evidence))
    .filter(({ account, createdAtMs }) => {
      const most = settings.accounts[account]?.maxSignalsPerMinute ?? 0;
      const near = entries.filter(
        (other) =>
          other.account === account &&
          other.signal !== null &&
          other.createdAtMs > decidedAtMs(history, createdAtMs) - widestMs &&
          other.createdAtMs <= createdAtMs + clockToleranceMs,
      );
      // An alert holds at most two signals.
      return near.length < most - 1;
    })
    .map(({ account, signalId }) => ({
      invariant: 'I12',
      harm: 'other',
      text: `${signalId} of ${account} was refused as over the limit, although few came within the minute`,
    }));
}

/** The earliest time at which a refusal may have been decided: its process may have stood still before it recorded it. */
function decidedAtMs({ freezes }: History, recordedAtMs: number): number {
  const around = freezes.filter(
    ({ fromMs, untilMs }) =>
      fromMs <= recordedAtMs + widestSkewMs && untilMs >= recordedAtMs - widestSkewMs - slowestStepMs,
  );
  return Math.min(recordedAtMs, ...around.map(({ fromMs }) => fromMs - widestSkewMs));
}

function isOverLimit(evidence: unknown): boolean {
  return (
    typeof evidence === 'object' &&
    evidence !== null &&
    'code' in evidence &&
    evidence.code === 'rate_limited'
  );
}
