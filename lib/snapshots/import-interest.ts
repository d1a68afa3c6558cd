import { isDeepStrictEqual } from 'node:util';
import type { Alarms } from '../base/alarms.ts';
import { RelayError } from '../base/errors.ts';
import type { ExchangeClient } from '../exchange/client.ts';
import { interestPayments } from '../exchange/endpoints/interest-payments.ts';
import { describeFailure, ExchangeError, isDenied } from '../exchange/errors.ts';
import { forEachAccount, type SnapshotServices } from './each-account.ts';
import { type AskPage, namePayment, type PaymentReading, pageLimit, readPayments } from './read-payments.ts';
import type { ImportProgress, InterestPayment, InterestStore, Period } from './snapshot-store.ts';

/** The dependencies of the interest import. */
export interface ImportServices extends SnapshotServices {
  readonly alarms: Alarms;
  /** A name for the account's newest exchange key that does not reveal it; another key has another name. */
  keyNameOf(account: string): Promise<string>;
  /** Of the accounts of a paper exchange, only the first is a partner: that the others are none is no news. */
  readonly isPaperExchange: boolean;
}

/**
 * Imports the new interest payments of every account, each payment once.
 *
 * The store records the time up to which it is complete. That time advances only after everything
 * before it is stored, so a crash leaves no hole: the next import reads again from there. The
 * exchange shows the newest 10 100 payments. If more have arrived since the last import, the import
 * reads plan by plan and records the period in which payments may still be missing as a gap. If an
 * account may not see payments, the import logs it once, on a paper exchange never, and asks again only with
 * another key.
 *
 * @throws RelayError `snapshot_incomplete` when an account could not be read or stored
 */
export function importInterest(services: ImportServices): Promise<void> {
  return forEachAccount(services, 'the import of interest', (account) => importAccount(services, account));
}

/** Deletes the stored refusal of the account, so that the next import asks the exchange again. */
export async function retryRefusedImport(interest: InterestStore, account: string): Promise<void> {
  const progress = await interest.readProgress(account);
  if (progress.refusal !== null) await interest.writeProgress(account, { ...progress, refusal: null });
}

/**
 * The exchange may add payments with a past time, so each
 * import reads this far back; a request reads a hundred.
 */
const lookBackMs = 31 * 24 * 3_600_000;

async function importAccount(services: ImportServices, account: string): Promise<void> {
  const progress = await services.store.interest.readProgress(account);
  const keyName = await services.keyNameOf(account);
  if (progress.refusal?.keyName === keyName) return;
  const client = await services.exchangeFor(account);
  try {
    await importSince({ services, account, client }, progress);
  } catch (error) {
    const reason = refusalOf(error);
    if (reason === null) throw error;
    await storeRefusal(services, account, progress, { keyName, reason });
  }
}

interface Importing {
  readonly services: ImportServices;
  readonly account: string;
  readonly client: ExchangeClient;
}

async function importSince(importing: Importing, progress: ImportProgress): Promise<void> {
  const { services, account } = importing;
  const { completeUntilMs } = progress;
  const importedAtMs = services.clock.nowMs();
  const sinceMs = completeUntilMs === null ? Number.NEGATIVE_INFINITY : completeUntilMs - lookBackMs;
  const reading = await readPayments(createPageReader(importing, null), sinceMs);
  const gap = findGap(reading, completeUntilMs);
  // The payments read so far are stored first, so that an unreadable plan does not delay them.
  let added = await storeNew(services.store.interest, account, reading.payments);
  if (gap !== null) added += await fillGap(importing, reading, sinceMs, gap);
  await finish(services, account, progress, { importedAtMs, reading, gap, added });
}

/** The period between the last import and the oldest payment the exchange shows; null when there is none. */
function findGap({ isComplete, oldestMs }: PaymentReading, completeUntilMs: number | null): Period | null {
  if (isComplete) return null;
  if (oldestMs === null)
    throw new RelayError(
      'history_unreadable',
      'the interest payments cannot be read: more of them share one second than the exchange shows',
    );
  const fromMs = completeUntilMs ?? 0;
  return fromMs < oldestMs ? { fromMs, untilMs: oldestMs } : null;
}

/**
 * Reads plan by plan: the newest payments of one plan go back further. @returns the number of new payments
 */
async function fillGap(
  importing: Importing,
  { payments }: PaymentReading,
  sinceMs: number,
  gap: Period,
): Promise<number> {
  const { services, account } = importing;
  let added = 0;
  for (const planId of new Set(payments.map((payment) => payment.planId))) {
    const ofPlan = await readPlan(importing, planId, sinceMs);
    const older = ofPlan.filter(({ paidAtMs }) => paidAtMs < gap.untilMs);
    added += await storeNew(services.store.interest, account, older);
  }
  return added;
}

/** Returns nothing for a plan that the exchange no longer knows; the gap stays recorded. */
async function readPlan(
  importing: Importing,
  planId: string,
  sinceMs: number,
): Promise<readonly InterestPayment[]> {
  try {
    return (await readPayments(createPageReader(importing, planId), sinceMs)).payments;
  } catch (error) {
    if (error instanceof ExchangeError && error.failure.kind === 'rejected') return [];
    throw error;
  }
}

function createPageReader({ services, client }: Importing, planId: string | null): AskPage {
  return async (offset) => {
    const params = { limit: pageLimit, offset, ...(planId === null ? {} : { planId }) };
    const page = await client.call(interestPayments, params, { timeoutMs: services.exchangeTimeoutMs });
    // A page with another limit could be mistaken for the end of the list.
    if (page.limit === pageLimit && page.offset === offset) return page.records;
    const requested = `the request had limit ${pageLimit} and offset ${offset}`;
    const message = `${requested}, but the response has limit ${page.limit} and offset ${page.offset}`;
    throw new RelayError('history_unreadable', message);
  };
}

/** @returns the number of payments that were not stored yet */
async function storeNew(
  interest: InterestStore,
  account: string,
  payments: readonly InterestPayment[],
): Promise<number> {
  const times = payments.map(({ paidAtMs }) => paidAtMs);
  if (times.length === 0) return 0;
  const known = new Set<string>();
  const period = { fromMs: times.reduce(earlier), untilMs: times.reduce(later) + 1 };
  for await (const payment of interest.list(account, period)) known.add(namePayment(payment));
  const fresh = payments.filter((payment) => !known.has(namePayment(payment)));
  await interest.write(account, fresh);
  return fresh.length;
}

const earlier = (one: number, other: number): number => Math.min(one, other);
const later = (one: number, other: number): number => Math.max(one, other);

interface Imported {
  readonly importedAtMs: number;
  readonly reading: PaymentReading;
  readonly gap: Period | null;
  readonly added: number;
}

/** Stores the progress once all payments are stored, so that the next import starts from there. */
async function finish(
  { store, log, alarms }: ImportServices,
  account: string,
  progress: ImportProgress,
  { importedAtMs, reading, gap, added }: Imported,
): Promise<void> {
  // Raised before the gap is stored, because no later import finds it again. A crash in between repeats the
  // alarm.
  if (gap !== null) raiseGap(alarms, account, gap);
  const newestMs = reading.payments.map(({ paidAtMs }) => paidAtMs).reduce(later, Number.NEGATIVE_INFINITY);
  const completeUntilMs = Math.max(progress.completeUntilMs ?? Number.NEGATIVE_INFINITY, newestMs);
  const isWritten = await advance(store.interest, account, {
    ...progress,
    importedAtMs,
    completeUntilMs: Number.isFinite(completeUntilMs) ? completeUntilMs : null,
    gaps: gap === null ? progress.gaps : [...progress.gaps, gap],
    refusal: null,
  });
  // Otherwise another import of the account was faster; the payments this one wrote are stored all the same.
  if (isWritten && added > 0) log.info('interest payments imported', { account, payments: added });
}

function raiseGap(alarms: Alarms, account: string, { fromMs, untilMs }: Period): void {
  const message = 'the exchange shows too little of its history: interest payments may be missing';
  alarms.raise(
    { name: 'interest_missing', message },
    {
      account,
      from: new Date(fromMs).toISOString(),
      until: new Date(untilMs).toISOString(),
    },
  );
}

/**
 * Writes the progress, and reads it back if the store reports a version conflict.
 *
 * If the response to a write is lost, the DynamoDB client sends
 * it again, and the second write conflicts with the first.
 *
 * @returns whether the progress is stored
 */
async function advance(interest: InterestStore, account: string, progress: ImportProgress): Promise<boolean> {
  if (await interest.writeProgress(account, progress)) return true;
  const stored = await interest.readProgress(account);
  return isDeepStrictEqual(stored, { ...progress, version: progress.version + 1 });
}

/** @returns the exchange's message when it denies the account access to interest payments, else null */
function refusalOf(error: unknown): string | null {
  if (!(error instanceof ExchangeError) || !isDenied(error)) return null;
  return describeFailure(error.failure);
}

async function storeRefusal(
  { store, log, clock, isPaperExchange }: ImportServices,
  account: string,
  progress: ImportProgress,
  { keyName, reason }: { readonly keyName: string; readonly reason: string },
): Promise<void> {
  // Logged before it is stored, because later imports do not ask again. A crash in between repeats the line.
  if (!isPaperExchange)
    log.info(
      'no interest payments are recorded for this account: it is no business partner of the exchange, or its key may not read them; orders are not affected, and the relay asks again when the account has another key',
      { account, response: reason },
    );
  const refusal = { atMs: clock.nowMs(), keyName, reason };
  // On a conflict another import was faster and has stored the response it got.
  await store.interest.writeProgress(account, { ...progress, refusal });
}
