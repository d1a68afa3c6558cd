import type { Alarm } from '../base/alarms.ts';
import { RelayError } from '../base/errors.ts';
import type { Json } from '../base/json.ts';
import type { Account } from '../model/account.ts';
import { holdsSecret } from '../signals/find-secret.ts';
import { fingerprintOf, refusalIdOf } from '../signals/identity.ts';
import { type RefusedName, readRefusedNames } from '../signals/refused-names.ts';
import type { ReceiveServices } from './services.ts';

/** An alert that an authentic sender sent, before anything is known of it. */
export interface Arrived {
  readonly account: Account;
  readonly body: Buffer;
  /** What must not be stored, logged or answered. */
  readonly secrets: readonly string[];
}

/** TradingView states no limit; real alerts stay far below. What is larger is not read, not even for its id. */
export const maximumBodyBytes = 16 * 1024;
/** As many signals as an alert may hold. */
const mostRecords = 10;

/**
 * An authentic alert that is turned away leaves a trace, under its own id where that can be read; what was not stored
 * because something broke comes again, and leaves none.
 *
 * @param error what the story of the alert ended with
 * @returns what its sender is to be told
 * @throws RelayError `store_unavailable` when the trace could not be kept: then the alert must come again
 */
export async function recordRefusal(
  services: ReceiveServices,
  arrived: Arrived,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof RelayError)) return error;
  const names = namesIn(arrived);
  if (error.code === 'rate_limited') {
    const refusal = judgeOverload(services, arrived.account, names.length, error);
    await record(services, arrived, names, refusal);
    return refusal;
  }
  if (error.row.httpStatus < 500) await record(services, arrived, names, error);
  return error;
}

function namesIn({ body, secrets }: Arrived): readonly RefusedName[] {
  if (body.byteLength > maximumBodyBytes) return [];
  const isClean = (text: string | null) => text === null || !holdsSecret(text, secrets);
  return readRefusedNames(body).map(({ id, ticker }) => ({
    id: isClean(id) ? id : null,
    ticker: isClean(ticker) ? ticker : null,
  }));
}

/** Below a bound the sender is asked to come again; beyond it, or where that can never help, it is not. */
function judgeOverload(
  { clock, alarms, overload }: ReceiveServices,
  account: Account,
  signalCount: number,
  error: RelayError,
): RelayError {
  const { isFlood, isNews } = overload.note(account, clock.nowMs());
  const most = account.maxSignalsPerMinute ?? Number.POSITIVE_INFINITY;
  // Told before it is written: an alarm too many is better than one that a crash in between swallows.
  if (isNews)
    alarms.raise(overLimitAlarm, {
      account: account.name,
      maxSignalsPerMinute: account.maxSignalsPerMinute,
    });
  if (signalCount > most)
    return new RelayError(
      'flooded',
      `the alert holds ${signalCount} signals; the account takes ${most} in a minute`,
    );
  if (isFlood)
    return new RelayError('flooded', `${error.message}, and ${most} were refused in that minute already`);
  return error;
}

const overLimitAlarm: Alarm = {
  name: 'signals_over_limit',
  message: 'alerts are refused: the account is over its signals of a minute',
};

/** One record for each id that the alert gives, so that each of its signals is found; else one for its bytes. */
async function record(
  services: ReceiveServices,
  { account, body }: Arrived,
  names: readonly RefusedName[],
  error: RelayError,
): Promise<void> {
  const fingerprint = fingerprintOf(body);
  const [first = { id: null, ticker: null }] = names;
  const named = names.filter(({ id }) => id !== null).slice(0, mostRecords);
  const atMs = services.clock.nowMs();
  await Promise.all(
    (named.length > 0 ? named : [first]).map(({ id, ticker }) =>
      services.ledger.refuse({
        account: account.name,
        signalId: refusalIdOf(fingerprint, id),
        fingerprint,
        step: { status: 'invalid', atMs, note: noteOf(error), evidence: evidenceOf(error, ticker) },
      }),
    ),
  );
}

function noteOf({ message, row }: RelayError): string {
  return row.httpStatus < 500 ? message : `${message}; the sender was asked to send it again`;
}

function evidenceOf({ code, issues }: RelayError, ticker: string | null): Json {
  return {
    code,
    ...(ticker === null ? {} : { ticker }),
    issues: issues.map((issue) => ({ ...issue })),
  };
}
