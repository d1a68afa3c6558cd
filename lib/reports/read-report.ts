import { type Decimal, zero } from '../base/decimal.ts';
import { type Executions, listFills, listSignalFills } from '../ledger/executions.ts';
import { type Ledger, listEntries } from '../ledger/ledger.ts';
import { type FirstHoldings, firstIfKept, hasExpired } from '../model/cost-books.ts';
import { type Fill, fillNameOf, isOfSignal } from '../model/execution.ts';
import { type BookedDeal, createDealBooks } from './book-deals.ts';
import { createReportBuilder, type Grouping, type ReportRow } from './report.ts';
import { factsOf, type SignalFacts } from './signal-facts.ts';

export interface ReportSources {
  readonly ledger: Pick<Ledger, 'list' | 'read'>;
  readonly executions: Pick<Executions, 'listFills'>;
  /** Whether a market trades on the spot account. */
  isSpot(account: string, market: string): boolean;
  /** What an account held when the relay first read it; null: it never did. */
  firstOf(account: string): Promise<FirstHoldings | null>;
  /** Fills from before may have expired; absent or null: none expire. */
  readonly keptFromMs?: number | null;
}

export interface ReportQuery {
  readonly accounts: readonly string[];
  readonly fromMs: number;
  /** Not included. */
  readonly untilMs: number;
  readonly by: Grouping;
  /** The day of a time, in the time zone of the report. */
  readonly dayOf: (timeMs: number) => string;
}

export interface Report {
  readonly rows: readonly ReportRow[];
  /** One for each quote currency. */
  readonly totals: readonly ReportRow[];
  readonly caveats: Caveats;
}

/** What the figures leave out. */
export interface Caveats {
  /** The first stored fill, from which on average cost is known; null when there is none. */
  readonly firstFillAtMs: number | null;
  /** Fills from before may have expired, and with them what had opened a position; null: all that were read are there. */
  readonly expiredBeforeMs: number | null;
  /** Market → base units that were sold or closed although no stored fill had opened them. Their profit is unknown. */
  readonly unmatched: Readonly<Record<string, Decimal>>;
  /** Assets of fees that are neither base nor quote currency: they are in `fees`, and not in the net profit. */
  readonly unvaluedFees: readonly string[];
  /** Deals of the period that belong to no signal: by hand, or by the exchange. They are in the figures. */
  readonly otherDeals: number;
  /** Deals of the period that two accounts have, because they trade with keys of one account at the exchange. They count once. */
  readonly sharedDeals: number;
  /** Placed orders of the period whose fills have not been read yet. */
  readonly unread: number;
}

/**
 * Reads the signals and fills of accounts and adds them up. Fills are read from the first one on, because average cost
 * depends on all of them; they are not kept.
 *
 * @param onDeal called for each deal of the period, in the order of accounts and time
 * @throws RelayError `store_unavailable`
 */
export async function readReport(
  sources: ReportSources,
  query: ReportQuery,
  onDeal: (deal: BookedDeal) => void = () => undefined,
): Promise<Report> {
  const { fromMs, untilMs } = query;
  const { keptFromMs = null } = sources;
  const builder = createReportBuilder(query.by, query.dayOf);
  const found = createFindings();
  const isCounted = createCounted(sources, query);
  for (const account of query.accounts) {
    const { facts, unread } = await readFacts(sources.ledger, account, query);
    found.unread += unread;
    const isSpot = (market: string) => sources.isSpot(account, market);
    const first = await sources.firstOf(account);
    if (hasExpired(first, keptFromMs)) found.expiredBeforeMs = keptFromMs;
    const books = createDealBooks(isSpot, firstIfKept(first, keptFromMs));
    const firstFills = new Map<string, number>();
    for await (const fill of listFills(sources.executions, account, 0, untilMs)) {
      const { signalId, role, atMs } = fill;
      const ofSignal = isOfSignal(fill)
        ? (facts.get(signalId) ?? (await readMissing(sources.ledger, facts, fill)))
        : null;
      const deal = books.book(fill, ofSignal);
      found.firstFillAtMs = Math.min(found.firstFillAtMs, atMs);
      if (role === 'order' && !firstFills.has(signalId)) firstFills.set(signalId, atMs);
      if (atMs < fromMs) continue;
      if (await isCounted(fill)) {
        found.sharedDeals += 1;
        continue;
      }
      builder.addDeal(deal);
      noteGaps(found, deal);
      onDeal(deal);
    }
    for (const each of facts.values())
      if (each.isAsked && each.createdAtMs >= fromMs && each.createdAtMs < untilMs)
        builder.addSignal(each, firstFills.get(each.signalId) ?? null);
  }
  return { rows: builder.rows(), totals: builder.totals(), caveats: describeFindings(found) };
}

/** Tells of a deal of no signal whether it counts already: as a deal of another account. */
function createCounted(
  { executions }: ReportSources,
  { accounts, untilMs }: ReportQuery,
): (fill: Fill) => Promise<boolean> {
  const counted = new Set<string>();
  let ofSignals: Set<string> | null = null;
  return async (fill) => {
    if (accounts.length < 2 || isOfSignal(fill)) return false;
    if (ofSignals === null) {
      ofSignals = new Set();
      for (const account of accounts)
        for await (const one of listSignalFills(executions, account, 0, untilMs))
          ofSignals.add(fillNameOf(one));
    }
    const name = fillNameOf(fill);
    if (ofSignals.has(name) || counted.has(name)) return true;
    counted.add(name);
    return false;
  };
}

interface AccountFacts {
  readonly facts: Map<string, SignalFacts>;
  readonly unread: number;
}

/** The facts of every signal of the account, oldest first: a fill may belong to an old one. */
async function readFacts(
  ledger: Pick<Ledger, 'list'>,
  account: string,
  { fromMs, untilMs }: ReportQuery,
): Promise<AccountFacts> {
  const facts = new Map<string, SignalFacts>();
  let unread = 0;
  for await (const entry of listEntries(ledger, { account })) {
    if (entry.createdAtMs >= untilMs) break;
    const each = factsOf(entry);
    if (each === null) continue;
    facts.set(each.signalId, each);
    if (each.isPlaced && entry.execution === null && each.createdAtMs >= fromMs) unread += 1;
  }
  return { facts, unread };
}

/** By the exchange's clock, a fill may be older than its alert, or the entry was stored after the others were read. */
async function readMissing(
  ledger: Pick<Ledger, 'read'>,
  facts: Map<string, SignalFacts>,
  { account, signalId }: Fill,
): Promise<SignalFacts | null> {
  const entry = await ledger.read({ account, signalId });
  const found = entry === null ? null : factsOf(entry);
  if (found !== null) facts.set(signalId, found);
  return found;
}

interface Findings {
  firstFillAtMs: number;
  expiredBeforeMs: number | null;
  otherDeals: number;
  sharedDeals: number;
  unread: number;
  readonly unmatched: Map<string, Decimal>;
  readonly unvaluedFees: Set<string>;
}

function createFindings(): Findings {
  return {
    firstFillAtMs: Number.POSITIVE_INFINITY,
    expiredBeforeMs: null,
    otherDeals: 0,
    sharedDeals: 0,
    unread: 0,
    unmatched: new Map(),
    unvaluedFees: new Set(),
  };
}

function noteGaps(found: Findings, deal: BookedDeal): void {
  const { unmatched, unvaluedFees } = found;
  const { market, feeAsset } = deal.fill;
  if (!isOfSignal(deal.fill)) found.otherDeals += 1;
  if (deal.unmatched.gt(zero)) unmatched.set(market, (unmatched.get(market) ?? zero).plus(deal.unmatched));
  if (deal.feeInQuote === null) unvaluedFees.add(feeAsset);
}

function describeFindings(found: Findings): Caveats {
  const { firstFillAtMs, expiredBeforeMs, otherDeals, sharedDeals, unread, unmatched, unvaluedFees } = found;
  return {
    firstFillAtMs: Number.isFinite(firstFillAtMs) ? firstFillAtMs : null,
    expiredBeforeMs,
    unmatched: Object.fromEntries(unmatched),
    unvaluedFees: [...unvaluedFees].sort(),
    otherDeals,
    sharedDeals,
    unread,
  };
}
