import { isDeepStrictEqual } from 'node:util';
import type { Alarms } from '../base/alarms.ts';
import { RelayError } from '../base/errors.ts';
import type { ExchangeClient } from '../exchange/client.ts';
import { interestPayments } from '../exchange/endpoints/interest-payments.ts';
import { describeFailure, ExchangeError, isDenied } from '../exchange/errors.ts';
import { forEachAccount, type SnapshotServices } from './each-account.ts';
import { type AskPage, namePayment, type PaymentReading, pageLimit, readPayments } from './read-payments.ts';
import type { ImportProgress, InterestPayment, InterestStore, Period } from './snapshot-store.ts';

/** What importing interest payments needs of the world. */
export interface ImportServices extends SnapshotServices {
  readonly alarms: Alarms;
  /** Names the account's newest exchange key without telling it; another key has another name. */
  keyNameOf(account: string): Promise<string>;
}

/**
 * Brings every account's interest payments up to date, each payment once.
 *
 * The store remembers up to when it is complete, and that time moves only after everything before it is stored: a
 * crash leaves no hole, the next import reads again from there. The exchange shows its newest 10 100 payments; where
 * more have come since the last import it is asked plan by plan, and the time that may still lack some is kept as a
 * gap. An account that may not see payments is told once, and asked again when its key is another one.
 *
 * @throws RelayError `snapshot_incomplete` when an account could not be read or stored
 */
export function importInterest(services: ImportServices): Promise<void> {
  return forEachAccount(services, 'the import of interest', (account) => importAccount(services, account));
}

/** Forgets that the exchange refused the account, so that the next import asks again. */
export async function retryRefusedImport(interest: InterestStore, account: string): Promise<void> {
  const progress = await interest.readProgress(account);
  if (progress.refusal !== null) await interest.writeProgress(account, { ...progress, refusal: null });
}

/** Payments may be entered with a time that is past: so far back all is looked at again, a request for each hundred. */
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
    await noteRefusal(services, account, progress, { keyName, reason });
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
  const reading = await readPayments(askFor(importing, null), sinceMs);
  const gap = findGap(reading, completeUntilMs);
  // What was read is stored first: a plan that cannot be read holds nothing newer back.
  let added = await storeNew(services.store.interest, account, reading.payments);
  if (gap !== null) added += await fillGap(importing, reading, sinceMs, gap);
  await finish(services, account, progress, { importedAtMs, reading, gap, added });
}

/** What lies between the last import and what the exchange still shows; null when they meet. */
function findGap({ isComplete, oldestMs }: PaymentReading, completeUntilMs: number | null): Period | null {
  if (isComplete) return null;
  if (oldestMs === null)
    throw new RelayError(
      'history_unreadable',
      'the interest payments cannot be read: one second has more of them than the exchange shows',
    );
  const fromMs = completeUntilMs ?? 0;
  return fromMs < oldestMs ? { fromMs, untilMs: oldestMs } : null;
}

/** Each plan has newest payments of its own, which go back further. @returns how many were new */
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

/** A plan that the exchange does not know any more has nothing to add; the gap stays noted. */
async function readPlan(
  importing: Importing,
  planId: string,
  sinceMs: number,
): Promise<readonly InterestPayment[]> {
  try {
    return (await readPayments(askFor(importing, planId), sinceMs)).payments;
  } catch (error) {
    if (error instanceof ExchangeError && error.failure.kind === 'rejected') return [];
    throw error;
  }
}

function askFor({ services, client }: Importing, planId: string | null): AskPage {
  return async (offset) => {
    const params = { limit: pageLimit, offset, ...(planId === null ? {} : { planId }) };
    const page = await client.call(interestPayments, params, { timeoutMs: services.exchangeTimeoutMs });
    // A page of another length would look like the end of the list.
    if (page.limit === pageLimit && page.offset === offset) return page.records;
    const asked = `${pageLimit} payments from ${offset} on were asked for`;
    throw new RelayError('history_unreadable', `${asked}, and ${page.limit} from ${page.offset} on given`);
  };
}

/** @returns how many were not there yet */
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

/** Everything is stored: from here on it need not be read again. */
async function finish(
  { store, log, alarms }: ImportServices,
  account: string,
  progress: ImportProgress,
  { importedAtMs, reading, gap, added }: Imported,
): Promise<void> {
  // Once it is stored no import finds the gap again: an alarm that comes twice is better than one that never comes.
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
  // Else another import of the account was quicker; whatever this one stored is stored all the same.
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
 * Writes progress, and looks for it where the store says that it is not the next version.
 *
 * When the response to a write is lost, the client of DynamoDB sends it again, and that one finds the first in its way.
 *
 * @returns whether it is stored
 */
async function advance(interest: InterestStore, account: string, progress: ImportProgress): Promise<boolean> {
  if (await interest.writeProgress(account, progress)) return true;
  const stored = await interest.readProgress(account);
  return isDeepStrictEqual(stored, { ...progress, version: progress.version + 1 });
}

/** @returns the exchange's words when it says that the account may not see interest payments, else null */
function refusalOf(error: unknown): string | null {
  if (!(error instanceof ExchangeError) || !isDenied(error)) return null;
  return describeFailure(error.failure);
}

async function noteRefusal(
  { store, log, clock }: ImportServices,
  account: string,
  progress: ImportProgress,
  { keyName, reason }: { readonly keyName: string; readonly reason: string },
): Promise<void> {
  // Once it is stored nobody asks the exchange again: what is told twice is better than what is never told.
  log.warn('no interest payments for this account: it is not a business partner, or its key may not', {
    account,
    reason: `${reason.replace(/\.$/, '')}; it is asked again when its key is another one`,
  });
  const refusal = { atMs: clock.nowMs(), keyName, reason };
  // Where another import was quicker, it has noted what the exchange said to it.
  await store.interest.writeProgress(account, { ...progress, refusal });
}
