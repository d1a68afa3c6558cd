import type { Alarm } from '../../base/alarms.ts';
import { RelayError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import type { Account } from '../../model/account.ts';
import type { HeldSecret } from '../../signals/find-secret.ts';
import { fingerprintOf, refusalIdOf, repeatFingerprintOf } from '../../signals/identity.ts';
import { type RefusedName, readRefusedNames } from '../../signals/refused-names.ts';
import type { ReceiveServices } from '../services.ts';
import { type Counted, OverLimit } from './overload.ts';
import { keepMessage, maximumBodyBytes } from './received-message.ts';
import { RepeatedAlert, repeatAlarm } from './repeated-alert.ts';

/** An alert of an authenticated sender, not parsed yet. */
export interface Arrived {
  readonly account: Account;
  readonly body: Buffer;
  /** Texts that must not be stored, logged or returned. */
  readonly secrets: readonly HeldSecret[];
}

/** The most entries one refused alert adds to the ledger: as many as an alert may hold signals. */
const mostRecords = 10;

/**
 * Records a refused alert of an authenticated sender as `invalid`, under its own id if that can be read.
 * Nothing is recorded for a server error (5xx other than `rate_limited`), because the sender sends that alert
 * again.
 *
 * @param error the error that ended the handling of the alert
 * @returns the error to respond with
 * @throws RelayError `store_unavailable` when the record could not be stored; the alert must be sent again
 */
export async function recordRefusal(
  services: ReceiveServices,
  arrived: Arrived,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof RelayError)) return error;
  const names = namesIn(arrived);
  if (error instanceof OverLimit) {
    const refusal = judgeOverload(services, arrived.account, names.length, error);
    await record(services, arrived, names, refusal);
    return refusal;
  }
  if (error instanceof RepeatedAlert) tellRepeat(services, arrived.account, error);
  if (error.row.httpStatus < 500) await record(services, arrived, names, error);
  return error;
}

/** Logged before the record is stored, as every alarm: one too many is better than one that is lost in a crash. */
function tellRepeat(services: ReceiveServices, account: Account, repeat: RepeatedAlert): void {
  const { firstSignalId, repeated, arrivedAtMs } = repeat;
  if (services.repeats.note(account.name, repeated, arrivedAtMs))
    services.alarms.raise(repeatAlarm, { account: account.name, firstSignalId });
}

function namesIn({ body, secrets }: Arrived): readonly RefusedName[] {
  return body.byteLength > maximumBodyBytes ? [] : readRefusedNames(body, secrets);
}

/**
 * Returns `rate_limited`, which asks for a retry, or `flooded` beyond a bound, or if no retry can succeed.
 */
function judgeOverload(
  { clock, alarms, overload }: ReceiveServices,
  account: Account,
  signalCount: number,
  error: OverLimit,
): RelayError {
  const { isFlood, isNews } = overload.note(account, error.counted, clock.nowMs());
  const most = account.maxSignalsPerMinute ?? Number.POSITIVE_INFINITY;
  // Logged before the record is stored: an alarm too many is better than one that is lost in a crash.
  if (isNews)
    alarms.raise(overLimitAlarms[error.counted], {
      account: account.name,
      maxSignalsPerMinute: account.maxSignalsPerMinute,
      refused: error.counted,
    });
  if (signalCount > most)
    return new RelayError(
      'flooded',
      `the alert holds ${signalCount} signals; the account accepts ${most} in a minute`,
    );
  if (isFlood)
    return new RelayError('flooded', `${error.message}, and ${most} were refused in that minute already`);
  return error;
}

const overLimitAlarms: Readonly<Record<Counted, Alarm>> = {
  openings: {
    name: 'signals_over_limit',
    message: 'alerts are refused: the account is over its limit of signals per minute',
  },
  reductions: {
    name: 'signals_over_limit',
    message:
      'alerts that close, cancel or protect are refused: the account is over its limit of such signals per minute',
  },
};

/**
 * Stores one entry per id in the alert, so that each signal can be found, or one for an alert without ids. A resend of a
 * refused alert adds nothing; an alert that repeats another one adds an entry each time.
 */
async function record(
  services: ReceiveServices,
  { account, body, secrets }: Arrived,
  names: readonly RefusedName[],
  error: RelayError,
): Promise<void> {
  const fingerprint = fingerprintOf(body);
  const [first = { id: null, ticker: null }] = names;
  const named = names.filter(({ id }) => id !== null).slice(0, mostRecords);
  const atMs = services.clock.nowMs();
  const message = keepMessage(body, secrets);
  const recorded =
    error instanceof RepeatedAlert
      ? repeatFingerprintOf(fingerprint, error.arrivedAtMs, services.repeats.nextName())
      : fingerprint;
  await Promise.all(
    (named.length > 0 ? named : [first]).map(async ({ id, ticker }) => {
      const key = { account: account.name, signalId: refusalIdOf(recorded, id) };
      await services.ledger.refuse({
        ...key,
        fingerprint,
        ...(message === undefined ? {} : { message }),
        step: {
          status: 'invalid',
          atMs,
          note: noteOf(error),
          evidence: evidenceOf(error, ticker),
          facts: ticker === null ? {} : { ticker },
        },
      });
      // The line on the refusal itself, which also tells of unknown senders, names no account.
      services.log.info('refused alert recorded', key);
    }),
  );
}

function noteOf({ message, row }: RelayError): string {
  return row.httpStatus < 500 ? message : `${message}; the sender was asked to send it again`;
}

function evidenceOf(error: RelayError, ticker: string | null): Json {
  const { code, issues } = error;
  return {
    code,
    ...(ticker === null ? {} : { ticker }),
    ...(error instanceof RepeatedAlert ? { firstSignalId: error.firstSignalId } : {}),
    issues: issues.map((issue) => ({ ...issue })),
  };
}
