import { isDecimalText, parseDecimal } from '../../lib/base/decimal.ts';
import type {
  BalanceSnapshot,
  BalanceStore,
  FeeEpoch,
  FeeStore,
  Holdings,
  InterestPayment,
  InterestStore,
  Period,
} from '../../lib/snapshots/snapshot-store.ts';
import { CommandFailure } from '../failure.ts';
import { formatSecond } from '../show/print.ts';
import { heldAmountOf } from './balance-history.ts';
import type { CsvCell } from './csv.ts';
import { feeRecordOf, feeTitles } from './fee-records.ts';

/**
 * The rows of an export in two forms: CSV records with titles first, and JSON documents. Both are streamed.
 */
export interface ExportRows {
  records(): AsyncIterable<readonly CsvCell[]>;
  documents(): AsyncIterable<object>;
}

/** Decimals become numbers, so that spreadsheets treat them as such. */
export function amountCell(text: string | null): CsvCell {
  return text !== null && isDecimalText(text) ? parseDecimal(text) : text;
}

export function exportBalances(balances: BalanceStore, account: string, period: Period): ExportRows {
  return {
    records: () => listBalanceRecords(balances, account, period),
    async *documents() {
      for await (const snapshot of balances.list(account, period)) yield { account, ...snapshot };
    },
  };
}

/**
 * The columns must be known before the first row. The range is read twice instead of being kept in memory.
 */
async function* listBalanceRecords(
  balances: BalanceStore,
  account: string,
  period: Period,
): AsyncGenerator<readonly CsvCell[]> {
  const tickers = await findTickers(balances.list(account, period));
  const [main, collateral] = [[...tickers.main].sort(), [...tickers.collateral].sort()];
  yield ['time (UTC)', 'taken at (UTC)', ...main, ...collateral.map((ticker) => `${ticker} collateral`)];
  for await (const snapshot of balances.list(account, period)) {
    requireKnown(snapshot, tickers);
    yield [
      formatSecond(snapshot.slotMs),
      formatSecond(snapshot.takenAtMs),
      ...main.map((ticker) => heldAmountOf(snapshot.main, ticker)),
      ...collateral.map((ticker) => heldAmountOf(snapshot.collateral, ticker)),
    ];
  }
}

interface HeldTickers {
  readonly main: Set<string>;
  readonly collateral: Set<string>;
}

async function findTickers(snapshots: AsyncIterable<BalanceSnapshot>): Promise<HeldTickers> {
  const tickers: HeldTickers = { main: new Set(), collateral: new Set() };
  for await (const { main, collateral } of snapshots) {
    for (const ticker in main) tickers.main.add(ticker);
    for (const ticker in collateral) tickers.collateral.add(ticker);
  }
  return tickers;
}

/** A snapshot that was recorded between the two reads may contain a ticker that has no column. */
function requireKnown({ main, collateral }: BalanceSnapshot, tickers: HeldTickers): void {
  if (isWithin(main, tickers.main) && isWithin(collateral ?? {}, tickers.collateral)) return;
  throw new CommandFailure(
    'changed_meanwhile',
    'a balance of a new ticker was recorded during the export',
    'Export it again.',
  );
}

function isWithin(held: Holdings, tickers: ReadonlySet<string>): boolean {
  for (const ticker in held) if (!tickers.has(ticker)) return false;
  return true;
}

export function exportFees(fees: FeeStore, account: string, period: Period): ExportRows {
  async function* list(): AsyncGenerator<FeeEpoch> {
    for await (const epoch of fees.list(account)) if (isValidWithin(epoch, period)) yield epoch;
  }
  return {
    async *records() {
      yield feeTitles;
      for await (const epoch of list()) yield feeRecordOf(epoch);
    },
    async *documents() {
      for await (const epoch of list()) yield { account, ...epoch };
    },
  };
}

function isValidWithin({ fromMs, untilMs }: FeeEpoch, period: Period): boolean {
  return fromMs < period.untilMs && (untilMs === null || untilMs > period.fromMs);
}

export function exportInterest(interest: InterestStore, account: string, period: Period): ExportRows {
  return {
    async *records() {
      yield ['time (UTC)', 'ticker', 'amount', 'plan', 'investment', 'nth alike'];
      for await (const payment of interest.list(account, period)) yield paymentRecordOf(payment);
    },
    async *documents() {
      for await (const payment of interest.list(account, period)) yield { account, ...payment };
    },
  };
}

function paymentRecordOf(payment: InterestPayment): readonly CsvCell[] {
  const { paidAtMs, ticker, amount, planId, investmentId, nth } = payment;
  return [formatSecond(paidAtMs), ticker, amount, planId, investmentId, nth];
}
