import { isDeepStrictEqual } from 'node:util';
import { formatDecimal } from '../base/decimal.ts';
import { RelayError } from '../base/errors.ts';
import type { InterestPayment } from './snapshot-store.ts';

/** A payment as the exchange lists it. */
export type ListedPayment = Omit<InterestPayment, 'nth'>;

/**
 * Asks for a page of the history, newest first.
 *
 * @param offset from 0 to 10 000: how many payments, the newest, are left out
 */
export type AskPage = (offset: number) => Promise<readonly ListedPayment[]>;

/** What a reading saw of the history. */
export interface PaymentReading {
  /** All payments of every second that was seen whole. */
  readonly payments: readonly InterestPayment[];
  /** False: the history goes back further than the exchange shows it. */
  readonly isComplete: boolean;
  /** The oldest second that was seen whole; null when none was. */
  readonly oldestMs: number | null;
}

/** The most the exchange gives at once, and the most it leaves out. @see HTTP API v4, endpoint 3 */
export const pageLimit = 100;
const maximumOffset = 10_000;
/** A second of more payments than a page holds is read until two readings agree, so often. */
const maximumTries = 10;
/** How much of its first page every other of those readings takes. */
const otherCut = 63;

/**
 * Reads the history from its newest payment back to a time.
 *
 * Payments have no id, and pages shift while they are read: each new payment pushes the others down. So nothing is
 * taken from a page but whole seconds: those with another second before them and one behind them in the same response.
 * What a page's end cuts through is asked for again, beginning with the payment before it. A whole second's count of
 * like payments is exact, whatever else arrives.
 *
 * @param sinceMs seconds at or before it need not be read
 * @throws RelayError `history_unreadable` when the list is not newest first, loses payments, moves too fast, or gives a
 *   second that no page can show whole in another order each time
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
  /** Where in the page it begins. */
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
  // The payment before the cut second shows, if it comes first again, that the second is whole from there on.
  const next = page.offset + cut.index - 1;
  if (next > page.offset)
    return await askBehind(ask, next, page.payments[cut.index - 1]?.paidAtMs ?? cut.paidAtMs);
  const crowd = await readCrowdedSecond(ask, cut.paidAtMs, page.offset + cut.index);
  if (crowd === null) return null;
  seconds.set(cut.paidAtMs, crowd.payments);
  return await askBehind(ask, crowd.end - 1, cut.paidAtMs);
}

/** New payments push the list down, so a page never begins with an older one than stood there before. */
async function askBehind(ask: AskPage, offset: number, atLeastMs: number): Promise<Page> {
  const page = await askPage(ask, Math.min(offset, maximumOffset));
  const [first] = page.payments;
  if (first !== undefined && first.paidAtMs >= atLeastMs) return page;
  throw unreadable('payments vanished from the list while it was read');
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

/** A second that was seen twice is kept as it was when it had more payments: there are never fewer. */
function keepWhole(seconds: Map<number, readonly ListedPayment[]>, { offset, payments, cut }: Page): void {
  const first = payments[0]?.paidAtMs;
  for (const [paidAtMs, group] of Map.groupBy(payments, (payment) => payment.paidAtMs)) {
    const isCut = paidAtMs === cut?.paidAtMs || (paidAtMs === first && offset > 0);
    if (!isCut && group.length >= (seconds.get(paidAtMs)?.length ?? 0)) seconds.set(paidAtMs, group);
  }
}

interface Crowd {
  readonly payments: readonly ListedPayment[];
  /** How many payments of the list are of this second or newer. */
  readonly end: number;
}

/**
 * Reads a second that no page can show whole.
 *
 * Where it ends in the list is the count of all payments that are as new or newer, and so grows with every one that
 * arrives: when two readings find the same end, nothing arrived during the second of them. Its pages fit together when
 * payments of one second keep their order from request to request; where they do not, one is seen twice and another
 * never. So the pages of the two readings are cut at other places, and both must find the same payments.
 *
 * @param from where the second began in the list, or later
 * @returns null when it goes on beyond what the exchange shows
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
    'payments of one second arrive faster than they can be read, or change their order from request to request',
  );
}

function isSameCrowd(one: Crowd, other: Crowd): boolean {
  return one.end === other.end && isDeepStrictEqual(listNames(one), listNames(other));
}

function listNames({ payments }: Crowd): readonly string[] {
  return payments.map(nameListed).sort();
}

/** @param firstLength how many payments of its first page are taken: all pages behind it begin there */
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

/** Gives payments that are alike in every field their numbers. */
function numberAlike(payments: readonly ListedPayment[]): readonly InterestPayment[] {
  const counts = new Map<string, number>();
  return payments.map((payment) => {
    const name = nameListed(payment);
    const nth = (counts.get(name) ?? 0) + 1;
    counts.set(name, nth);
    return { ...payment, nth };
  });
}

/** All that tells one payment from another, but for their number. */
function nameListed({ planId, investmentId, ticker, amount, paidAtMs }: ListedPayment): string {
  return JSON.stringify([paidAtMs, planId, investmentId, ticker, formatDecimal(amount)]);
}

/** All that tells one payment from another. */
export function namePayment(payment: InterestPayment): string {
  return `${nameListed(payment)} ${payment.nth}`;
}

function unreadable(reason: string): RelayError {
  return new RelayError('history_unreadable', `the interest payments cannot be read: ${reason}`);
}
