import type { Alarms } from '../base/alarms.ts';
import type { Clock } from '../base/clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Denial } from '../model/outcome.ts';

/** @see DECISIONS 156 */
export interface PauseServices {
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly ledger: Pick<Ledger, 'readPause' | 'pauseRunning'>;
}

/**
 * Pauses an account whose loss of the day is too large, with an alarm. An account that is paused already stays as it is.
 *
 * The alarm comes first: after a crash in between, the next check does both.
 *
 * @throws RelayError `store_unavailable`
 */
export async function pauseOnLoss(
  { clock, alarms, ledger }: PauseServices,
  account: string,
  { rule, limit, actual, message }: Denial,
): Promise<void> {
  if ((await ledger.readPause(account)) !== null) return;
  alarms.raise(
    {
      name: 'daily_loss',
      message:
        'an account has reached its maxDailyLoss and is paused: only orders that reduce a position are sent; entries that rest at the exchange may still fill (`npx relay orders`); `npx relay limits` shows the loss, `npx relay resume` ends the pause',
    },
    { account, rule, limit, actual, note: message },
  );
  await ledger.pauseRunning(account, {
    sinceMs: clock.nowMs(),
    reason: `maxDailyLoss: ${message}`,
    kind: 'daily_loss',
  });
}
