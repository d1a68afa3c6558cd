import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Decimal, parseDecimal } from '../../lib/base/decimal.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createDataFolder } from '../../lib/host/data-folder.ts';
import type {
  BalanceSnapshot,
  CurrencyFees,
  FeeTerms,
  FeeVersion,
  InterestPayment,
  SnapshotStore,
} from '../../lib/snapshots/snapshot-store.ts';
import { createSqliteSnapshots } from '../../lib/snapshots/sqlite-snapshots.ts';

/** The data folder of a stopped relay, and its snapshots. */
export interface StoredSnapshots {
  readonly path: string;
  readonly store: SnapshotStore;
  /** The arguments with the folder added. */
  here(...args: string[]): readonly string[];
  remove(): void;
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
/** 2024-03-01. */
export const startMs = 1_709_251_200_000;

export function openSnapshotFolder(): StoredSnapshots {
  const folder = createDataFolder(mkdtempSync(join(tmpdir(), 'relay-snapshots-')));
  const file = openSqlite(folder.databasePath);
  return {
    path: folder.path,
    store: createSqliteSnapshots(file),
    here: (...args) => [...args, '--data', folder.path],
    remove() {
      file.close();
      rmSync(folder.path, { recursive: true });
    },
  };
}

export function amountsOf(amounts: Readonly<Record<string, string>>): Readonly<Record<string, Decimal>> {
  return Object.fromEntries(Object.entries(amounts).map(([ticker, text]) => [ticker, parseDecimal(text)]));
}

/**
 * Five days of hours from 2024-03-01 on; nothing was kept on the third from 06:00 to 17:00. BTC grows on the second at
 * noon, USDT has a spike of one hour on the fourth at 05:00, ETH comes on the fourth, and so does the collateral.
 */
export async function storeBalances({ balances }: SnapshotStore): Promise<void> {
  const hours = Array.from({ length: 5 * 24 }, (_, hour) => hour).filter((hour) => hour < 54 || hour > 65);
  await Promise.all(hours.map((hour) => balances.write('main', snapshotOf(hour))));
  // A ticker that a spreadsheet would run.
  const hostile = { ...snapshotOf(0), main: amountsOf({ '=1+1': '5' }) };
  await balances.write('rehearsal', hostile);
}

function snapshotOf(hour: number): BalanceSnapshot {
  const slotMs = startMs + hour * hourMs;
  return {
    slotMs,
    takenAtMs: slotMs + 1_234,
    main: amountsOf({
      BTC: hour < 36 ? '1.25' : '1.5',
      USDT: hour === 77 ? '99000.5' : '25000.75',
      ...(hour < 72 ? {} : { ETH: '20' }),
    }),
    collateral: hour < 72 ? null : amountsOf({ USDT: '-5.50000001' }),
  };
}

/** BTC over a month: fee raised, withdrawals closed, delisted, listed again. ETH never changes. */
export async function storeFees({ fees }: SnapshotStore): Promise<void> {
  const versions: readonly FeeVersion[] = [
    { ticker: 'BTC', fromMs: startMs, fees: feesOf('0.0004') },
    { ticker: 'BTC', fromMs: startMs + 5 * dayMs, fees: feesOf('0.0005') },
    { ticker: 'BTC', fromMs: startMs + 6 * dayMs, fees: { ...feesOf('0.0005'), canWithdraw: false } },
    { ticker: 'BTC', fromMs: startMs + 20 * dayMs, fees: null },
    { ticker: 'BTC', fromMs: startMs + 30 * dayMs, fees: feesOf('0.0003') },
  ];
  let known: FeeVersion | null = null;
  for (const version of versions) {
    await fees.append('main', known, version);
    known = version;
  }
  await fees.append('main', null, { ticker: 'ETH', fromMs: startMs, fees: feesOf('0.002') });
}

function feesOf(withdrawal: string): CurrencyFees {
  return { canDeposit: true, canWithdraw: true, deposit: termsOf('0'), withdraw: termsOf(withdrawal) };
}

function termsOf(fixed: string): FeeTerms {
  const none = parseDecimal('0');
  return {
    minFlex: none,
    maxFlex: none,
    percentFlex: none,
    fixed: parseDecimal(fixed),
    minAmount: parseDecimal('0.001'),
    maxAmount: parseDecimal('50'),
  };
}

const planA = '1b7c3a5e-0d52-4c3f-9a41-6f0d2f6f1a01';
const planB = '1b7c3a5e-0d52-4c3f-9a41-6f0d2f6f1a02';

/** Two of the first payments are identical; the sum of the BTC of March is one that floats get wrong. */
const payments: readonly InterestPayment[] = [
  paymentOf(planA, 'BTC', '0.1', startMs, 1),
  paymentOf(planA, 'BTC', '0.1', startMs, 2),
  paymentOf(planB, 'BTC', '0.2', startMs + dayMs, 1),
  paymentOf(planB, 'USDT', '12.345678', startMs + 2 * dayMs, 1),
  // 2024-04-01
  paymentOf(planA, 'BTC', '0.00000001', startMs + 31 * dayMs, 1),
];

function paymentOf(
  planId: string,
  ticker: string,
  amount: string,
  paidAtMs: number,
  nth: number,
): InterestPayment {
  const investmentId = '5e2f9d10-7a44-4b1e-8f3a-2c9b6d8e4103';
  return { planId, investmentId, ticker, amount: parseDecimal(amount), paidAtMs, nth };
}

/** Imported on 2024-05-01; what was paid in February's last week may be missing. */
export async function storePayments({ interest }: SnapshotStore): Promise<void> {
  await interest.write('main', payments);
  await interest.writeProgress('main', {
    version: 0,
    importedAtMs: startMs + 61 * dayMs,
    completeUntilMs: startMs + 31 * dayMs,
    gaps: [{ fromMs: startMs - 7 * dayMs, untilMs: startMs }],
    refusal: null,
  });
}

/** The exchange refused; its message contains an escape sequence. */
export async function storeRefusal({ interest }: SnapshotStore): Promise<void> {
  await interest.writeProgress('rehearsal', {
    version: 0,
    completeUntilMs: null,
    gaps: [],
    refusal: { atMs: startMs, keyName: 'abc', reason: 'HTTP 403 \u001b[2J not a partner' },
  });
}
