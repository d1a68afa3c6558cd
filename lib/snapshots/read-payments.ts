import { isDeepStrictEqual } from 'node:util';
import { formatDecimal } from '../base/decimal.ts';
import { RelayError } from '../base/errors.ts';
import type { InterestPayment } from './snapshot-store.ts';

/**
 * A payment as the exchange lists it.
 *
 * @see DECISIONS 58
 */
export type ListedPayment = Omit<InterestPayment, 'nth'>;

/**
 * Requests a page of the history, newest first.
 *
 * @param offset from 0 to 10 000: the number of newest payments to skip
 */
export type AskPage = (offset: number) => Promise<readonly ListedPayment[]>;

/** The part of the history that a reading covered. */
export interface PaymentReading {
  /** All payments of every second that was read completely. */
  readonly payments: readonly InterestPayment[];
  /** False: the history goes back further than the exchange shows. */
  readonly isComplete: boolean;
  /** The oldest second that was read completely; null when none was. */
  readonly oldestMs: number | null;
}

/** The largest limit and the largest offset that the exchange accepts. @see HTTP API v4, endpoint 3 */
export const pageLimit = 100;
const maximumOffset = 10_000;
/** How often a second with more payments than a page holds is read, at most, until two readings agree. */
const maximumTries = 10;
/** How many payments of its first page every other of those readings uses. */
const otherCut = 63;

/**
 * Reads the history from its newest payment back to a time.
 *
 * Payments have no id, and pages shift during the reading: each new payment pushes the others down. The
 * reading therefore uses only complete seconds of a page: those with another second before and after them in
 * the same response. The second that a page's end cuts is requested again, beginning with the payment before
 * it. In a complete second the number of equal payments is exact, whatever else arrives.
 *
 * @param sinceMs seconds at or before this time need not be read
 * @throws RelayError `history_unreadable` when the list is not
 * sorted newest first, loses payments, changes faster than
 *   it can be read, or reorders a second that does not fit into a page
 */
export async function readPayments(ask: AskPage, sinceMs: number): Promise<PaymentReading> {
  const seconds = new Map<number, readonly ListedPayment[]>();
  let page = await askPage(ask, 0);
  while (page.cut !== null && page.cut.paidAtMs > sinceMs) {
    keepWhole(seconds, page);
    const next = await readOn(ask, page, page.cut, seconds);
    if (next === null) return toReading(seconds, false);
    page = next;
  }
  keepWhole(seconds, page);
  return toReading(seconds, true);
}

interface Page {
  readonly offset: number;
  readonly payments: readonly ListedPayment[];
  /** The second that the page's end may have cut through; null at the end of the list. */
  readonly cut: Cut | null;
}

interface Cut {
  readonly paidAtMs: number;
  /** The index in the page at which it begins. */
  readonly index: number;
}

/** @returns the next page; null when the exchange shows no more */
async function readOn(
  ask: AskPage,
  page: Page,
  cut: Cut,
  seconds: Map<number, readonly ListedPayment[]>,
): Promise<Page | null> {
  if (page.offset === maximumOffset) return null;
  // The next page begins with the payment before the cut second,
  // which proves that the page has the second's start.
  const next = page.offset + cut.index - 1;
  if (next > page.offset)
    return await askAfter(ask, next, page.payments[cut.index - 1]?.paidAtMs ?? cut.paidAtMs);
  const crowd = await readCrowdedSecond(ask, cut.paidAtMs, page.offset + cut.index);
  if (crowd === null) return null;
  seconds.set(cut.paidAtMs, crowd.payments);
  return await askAfter(ask, crowd.end - 1, cut.paidAtMs);
}

/**
 * New payments push the list down, so a page cannot begin with
 * an older payment than the one seen at its offset.
 */
async function askAfter(ask: AskPage, offset: number, atLeastMs: number): Promise<Page> {
  const page = await askPage(ask, Math.min(offset, maximumOffset));
  const [first] = page.payments;
  if (first !== undefined && first.paidAtMs >= atLeastMs) return page;
  throw unreadable('payments disappeared from the list during the reading');
}

async function askPage(ask: AskPage, offset: number): Promise<Page> {
  const payments = await ask(offset);
  const isSorted = payments.every(
    ({ paidAtMs }, index) => paidAtMs <= (payments[index - 1]?.paidAtMs ?? paidAtMs),
  );
  if (!isSorted) throw unreadable('the list is not sorted newest first');
  const last = payments.at(-1);
  if (payments.length < pageLimit || last === undefined) return { offset, payments, cut: null };
  const index = payments.findIndex(({ paidAtMs }) => paidAtMs === last.paidAtMs);
  return { offset, payments, cut: { paidAtMs: last.paidAtMs, index } };
}

/** Of a second read twice, the reading with more payments is kept: payments are only ever added. */
function keepWhole(seconds: Map<number, readonly ListedPayment[]>, { offset, payments, cut }: Page): void {
  const first = payments[0]?.paidAtMs;
  for (const [paidAtMs, group] of Map.groupBy(payments, (payment) => payment.paidAtMs)) {
    const isCut = paidAtMs === cut?.paidAtMs || (paidAtMs === first && offset > 0);
    if (!isCut && group.length >= (seconds.get(paidAtMs)?.length ?? 0)) seconds.set(paidAtMs, group);
  }
}

interface Crowd {
  readonly payments: readonly ListedPayment[];
  /** The number of payments in the list that are of this second or newer. */
  readonly end: number;
}

/**
 * Reads a second that does not fit into one page.
 *
 * The position of its end in the list is the number of payments that are as new or newer, so it
 * grows with every payment that arrives. If two readings find the same end, nothing arrived
 * during the second reading. Pages join without error only if the payments of one second keep
 * their order between requests; otherwise one is read twice and another never. The two readings
 * therefore split the pages at different positions, and both must find the same payments.
 *
 * @param from the position in the list at which the second began, or a later one
 * @returns null when the second continues beyond what the exchange shows
 */
async function readCrowdedSecond(ask: AskPage, paidAtMs: number, from: number): Promise<Crowd | null> {
  let last = await readThrough(ask, paidAtMs, from, pageLimit);
  for (let tries = 1; tries < maximumTries && last !== null; tries += 1) {
    const again = await readThrough(ask, paidAtMs, from, tries % 2 === 1 ? otherCut : pageLimit);
    if (again !== null && isSameCrowd(again, last)) return again;
    last = again;
  }
  if (last === null) return null;
  throw unreadable(
    'payments of one second arrive faster than they can be read, or change their order between requests',
  );
}

function isSameCrowd(one: Crowd, other: Crowd): boolean {
  return one.end === other.end && isDeepStrictEqual(listNames(one), listNames(other));
}

function listNames({ payments }: Crowd): readonly string[] {
  return payments.map(nameListed).sort();
}

/** @param firstLength how many payments of the first page are used; the next page begins after them */
async function readThrough(
  ask: AskPage,
  paidAtMs: number,
  from: number,
  firstLength: number,
): Promise<Crowd | null> {
  const found: ListedPayment[] = [];
  let [offset, length] = [from, firstLength];
  while (offset <= maximumOffset) {
    const { payments } = await askPage(ask, offset);
    const taken = payments.slice(0, length);
    found.push(...taken.filter((payment) => payment.paidAtMs === paidAtMs));
    const older = taken.findIndex((payment) => payment.paidAtMs < paidAtMs);
    if (older >= 0) return { payments: found, end: offset + older };
    if (payments.length < length) return { payments: found, end: offset + payments.length };
    [offset, length] = [offset + length, pageLimit];
  }
  return null;
}

function toReading(
  seconds: ReadonlyMap<number, readonly ListedPayment[]>,
  isComplete: boolean,
): PaymentReading {
  return {
    payments: [...seconds.values()].flatMap(numberAlike),
    isComplete,
    oldestMs: seconds.size === 0 ? null : Math.min(...seconds.keys()),
  };
}

/** Numbers the payments that are equal in every field. */
function numberAlike(payments: readonly ListedPayment[]): readonly InterestPayment[] {
  const counts = new Map<string, number>();
  return payments.map((payment) => {
    const name = nameListed(payment);
    const nth = (counts.get(name) ?? 0) + 1;
    counts.set(name, nth);
    return { ...payment, nth };
  });
}

/** Identifies a payment, except among equal ones. */
function nameListed({ planId, investmentId, ticker, amount, paidAtMs }: ListedPayment): string {
  return JSON.stringify([paidAtMs, planId, investmentId, ticker, formatDecimal(amount)]);
}

/** Identifies a payment. */
export function namePayment(payment: InterestPayment): string {
  return `${nameListed(payment)} ${payment.nth}`;
}

function unreadable(reason: string): RelayError {
  return new RelayError('history_unreadable', `the interest payments cannot be read: ${reason}`);
}
