import type { Alarms } from '../base/alarms.ts';
import type { Clock } from '../base/clock.ts';
import type { AccountFacts } from '../ledger/account-facts.ts';
import type { Ledger, Pause } from '../ledger/ledger.ts';
import type { Denial } from '../model/outcome.ts';
import { fieldsOf } from './read-positions.ts';

export interface PauseServices {
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly ledger: Pick<Ledger, 'readPause' | 'writePause'>;
  readonly facts: AccountFacts;
}

/**
 * Pauses an account whose loss of the day is too large, with an alarm. An account that is paused already stays as it is.
 *
 * The alarm comes first, and the note on whose pause it is second: after a crash in between, the next check does it again,
 * and no pause is ever taken for an operator's, which would stop reductions too.
 *
 * @throws RelayError `store_unavailable`
 */
export async function pauseOnLoss(
  { clock, alarms, ledger, facts }: PauseServices,
  account: string,
  { rule, limit, actual, message }: Denial,
): Promise<void> {
  if ((await ledger.readPause(account)) !== null) return;
  alarms.raise(
    {
      name: 'daily_loss',
      message:
        'an account has reached its maxDailyLoss and is paused: only orders that reduce a position are sent; look at `relay limits`, then end the pause with `relay resume`',
    },
    { account, rule, limit, actual, note: message },
  );
  const sinceMs = clock.nowMs();
  await facts.write(account, 'risk', { pausedAtMs: sinceMs });
  await ledger.writePause(account, { sinceMs, reason: `maxDailyLoss: ${message}` });
}

/** Whether the pause was made by {@link pauseOnLoss}, so that orders which only reduce a position pass it. */
export async function isLossPause(facts: AccountFacts, account: string, pause: Pause): Promise<boolean> {
  return fieldsOf(await facts.read(account, 'risk'))['pausedAtMs'] === pause.sinceMs;
}
