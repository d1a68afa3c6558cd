import { type Decimal, floorToStep, parseDecimal, stepOfPlaces, zero } from '../../lib/base/decimal.ts';
import { createRandom, type Random } from '../../lib/base/random.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createDataFolder } from '../../lib/host/data-folder.ts';
import type { BalanceSnapshot, InterestPayment } from '../../lib/snapshots/snapshot-store.ts';
import { createSqliteSnapshots } from '../../lib/snapshots/sqlite-snapshots.ts';

const hourMs = 3_600_000;
export const tickers: readonly string[] = (
  'AAVE ADA ALGO APT ARB ATOM AVAX BCH BNB BTC DAI DOGE DOT ETC ETH EUR FIL ICP INJ LINK ' +
  'LTC MATIC NEAR OP PEPE RUNE SAND SEI SHIB SOL SUI TIA TON TRX UNI USDC USDT XLM XMR XRP'
).split(' ');
const plans = 20;
const account = 'main';

/** How much is stored, and up to when. */
export interface Amounts {
  readonly endMs: number;
  /** Hourly, the last an hour before the end. */
  readonly snapshots: number;
  readonly payments: number;
  readonly seed: number;
}

/** Fills the database of a data folder, by way of the real store: the same seed makes the same history. */
export async function fillSnapshots(folderPath: string, amounts: Amounts): Promise<void> {
  const file = openSqlite(createDataFolder(folderPath).databasePath);
  const store = createSqliteSnapshots(file);
  const random = createRandom(amounts.seed);
  // Writes asked for together share a transaction.
  for (const some of chunk(createSnapshots(amounts, random)))
    await Promise.all(some.map((snapshot) => store.balances.write(account, snapshot)));
  for (const some of chunk(createPayments(amounts, random))) await store.interest.write(account, some);
  file.close();
}

const chunkSize = 2_000;

function* chunk<T>(values: Iterable<T>): Generator<readonly T[]> {
  let some: T[] = [];
  for (const value of values) {
    some.push(value);
    if (some.length < chunkSize) continue;
    yield some;
    some = [];
  }
  yield some;
}

/** Each balance changes about twice a day. */
const changeProbability = 1 / 12;

function* createSnapshots({ endMs, snapshots }: Amounts, random: Random): Generator<BalanceSnapshot> {
  const held = new Map<string, Decimal>(tickers.map((ticker) => [ticker, createAmount(random)]));
  for (let left = snapshots; left > 0; left -= 1) {
    for (const ticker of tickers)
      if (random() < changeProbability) held.set(ticker, moveAmount(held.get(ticker) ?? zero, random));
    const slotMs = endMs - left * hourMs;
    yield { slotMs, takenAtMs: slotMs + 900, main: Object.fromEntries(held), collateral: null };
  }
}

/** By two per cent at the most. */
function moveAmount(amount: Decimal, random: Random): Decimal {
  const share = parseDecimal((random() * 0.04 - 0.02).toFixed(6));
  return floorToStep(amount.plus(amount.times(share)), stepOfPlaces(8));
}

/** Up to ten thousand, with eight places. */
function createAmount(random: Random): Decimal {
  const units = Math.floor(random() * 1e12) + 1;
  return parseDecimal(`${units}e-8`);
}

function* createPayments(
  { endMs, snapshots, payments }: Amounts,
  random: Random,
): Generator<InterestPayment> {
  const distanceMs = (snapshots * hourMs) / payments;
  for (let left = payments; left > 0; left -= 1) {
    const plan = Math.floor(random() * plans);
    yield {
      planId: `00000000-0000-4000-8000-0000000000${String(plan).padStart(2, '0')}`,
      investmentId: `00000000-0000-4000-9000-0000000000${String(plan).padStart(2, '0')}`,
      ticker: tickers[plan] ?? '',
      amount: createAmount(random),
      paidAtMs: Math.floor((endMs - left * distanceMs) / 1000) * 1000,
      nth: 1,
    };
  }
}
