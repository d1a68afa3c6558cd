import type { Alarm } from '../base/alarms.ts';
import { describeSafely } from '../base/describe-error.ts';
import { RelayError } from '../base/errors.ts';
import type { Log, LogFacts } from '../base/log.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { allowedOffsetMs, clockStepMs, readClockOffset } from '../exchange/clock-offset.ts';
import { mainBalance } from '../exchange/endpoints/main-balance.ts';
import { platformStatus } from '../exchange/endpoints/platform-status.ts';
import { ExchangeError } from '../exchange/errors.ts';
import { createTeller, type TellServices } from '../ledger/tell-once.ts';
import { type Account, findRehearsalReason } from '../model/account.ts';
import type { Settings } from '../model/settings.ts';

/** The services that watching the exchange needs. */
export interface ExchangeWatchServices extends TellServices {
  readonly log: Log;
  readonly settings: Settings;
  readonly isPaperExchange: boolean;
  readonly exchangeTimeoutMs: number;
  exchangeFor(account: string): Promise<ExchangeClient>;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Every quarter of an hour, away from the times of snapshots and of other watches. */
const everyMinutes = 15;
const atMinute = 11;
/** The key is used once an hour, at the first of these times. */
const minutesOfHour = 60;

/**
 * Looks for what ends a live account quietly: planned maintenance, a clock that drifts, a key that the exchange refuses. It
 * also uses the key, which the exchange switches off after 14 days without a request if it has no address list.
 *
 * @param startedAtMs of a run; the watch looks in one of fifteen minutes
 * @see https://docs.whitebit.com/api-reference/authentication
 */
export async function watchExchange(services: ExchangeWatchServices, startedAtMs: number): Promise<void> {
  const minute = Math.floor(startedAtMs / minuteMs);
  if (minute % everyMinutes !== atMinute) return;
  for (const account of Object.values(services.settings.accounts))
    if (findRehearsalReason(account.mode, services.isPaperExchange) === null && !services.isPaperExchange)
      await watchSafely(services, account, minute % minutesOfHour === atMinute);
}

/** What cannot be asked now is asked later: one account must not stop the watch of the others. */
async function watchSafely(
  services: ExchangeWatchServices,
  account: Account,
  isHourly: boolean,
): Promise<void> {
  const options = { timeoutMs: services.exchangeTimeoutMs };
  try {
    const client = await services.exchangeFor(account.name);
    await watchStatus(services, account, client, options);
    await watchClock(services, account, client, options);
    if (isHourly) await watchKey(services, account, client, options);
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    services.log.warn('the exchange could not be watched; the next run tries again', {
      account: account.name,
      reason: describeSafely(error),
    });
  }
}

async function watchStatus(
  services: ExchangeWatchServices,
  account: Account,
  client: ExchangeClient,
  options: SendOptions,
): Promise<void> {
  const { isOperational, word } = await client.call(platformStatus, {}, options);
  if (isOperational) return;
  const message = `the exchange says "${word}": orders may be refused or cancelled until it is over; pause, and look at what is open`;
  await tell(services, account, { name: 'exchange_maintenance', message }, { word }, 6 * hourMs);
}

async function watchClock(
  services: ExchangeWatchServices,
  account: Account,
  client: ExchangeClient,
  options: SendOptions,
): Promise<void> {
  const offsetMs = await readClockOffset(client, services.clock, options);
  // Before the exchange refuses anything.
  if (Math.abs(offsetMs) <= Math.max(clockStepMs, allowedOffsetMs(offsetMs) / 2)) return;
  const direction = offsetMs > 0 ? 'ahead of' : 'behind';
  const message = `this machine's clock is ${(Math.abs(offsetMs) / 1000).toFixed(1)} s ${direction} the exchange's: at 3 to 4 s it refuses every order; correct the clock, preferably with NTP`;
  await tell(services, account, { name: 'clock_off', message }, { offsetMs: Math.round(offsetMs) }, hourMs);
}

async function watchKey(
  services: ExchangeWatchServices,
  account: Account,
  client: ExchangeClient,
  options: SendOptions,
): Promise<void> {
  try {
    await client.call(mainBalance, {}, options);
  } catch (error) {
    if (!(error instanceof ExchangeError) || error.failure.kind !== 'rejected') throw error;
    const { httpStatus } = error.failure;
    if (httpStatus !== 401 && httpStatus !== 403) throw error;
    const message = `the exchange refuses the key of account ${account.name}, so it sends and closes nothing: it was switched off, deleted, or may not be used from this address; enable it at the exchange, or store another one with \`npx relay keys set ${account.name}\``;
    await tell(services, account, { name: 'key_refused', message }, { httpStatus }, 12 * hourMs);
  }
}

async function tell(
  services: ExchangeWatchServices,
  { name }: Account,
  alarm: Alarm,
  facts: LogFacts,
  everyMs: number,
): Promise<void> {
  // A little less, because a run may be some seconds early.
  await createTeller(services).tell(name, { key: alarm.name, alarm, facts, everyMs: everyMs - minuteMs });
}
