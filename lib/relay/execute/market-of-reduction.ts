import { listRecent } from '../../account/read-position.ts';
import { RelayError } from '../../base/errors.ts';
import type { Entry, SignalEntry } from '../../ledger/entry.ts';
import { listRecords, orderRecordOf } from '../../ledger/order-record.ts';
import { limitsOf } from '../../limits/check-order.ts';
import type { Account, TradingGround } from '../../model/account.ts';
import { isPerpetualName } from '../../model/market.ts';
import { isCancellation, type ProtectSignal } from '../../model/signal.ts';
import { mayOpen } from '../../signals/may-open.ts';
import type { ExecuteServices } from '../services.ts';

/**
 * The account as it counts for a signal. The owner may take a market out of it, or change where that trades, while a position
 * of the relay stands there. What protects the position, closes it, or cancels, is carried out all the same: it trades
 * where the orders of the relay did.
 *
 * @returns the configured account for whatever may open a position
 * @throws RelayError `store_unavailable`
 */
export async function withMarketOfReduction(
  services: ExecuteServices,
  account: Account,
  { signal }: SignalEntry,
): Promise<Account> {
  const { market } = signal;
  const configured = limitsOf(account, market)?.tradesOn ?? null;
  if (signal.action === 'protect') {
    const tradesOn = (await groundOfProtected(services, account, signal)) ?? configured ?? 'margin';
    return tradesOn === configured ? account : withMarket(account, market, tradesOn);
  }
  if (configured !== null || mayOpen(signal, account)) return account;
  const tradesOn = (await groundOfLastOrder(services, account, market)) ?? likelyGround(account, market);
  // On spot there is no position: a sale there is an order like any other.
  if (tradesOn === null || (tradesOn === 'spot' && !isCancellation(signal))) return account;
  return withMarket(account, market, tradesOn);
}

/** Where the ledger tells nothing of late: an order that can only reduce does nothing where there is no position. */
function likelyGround({ markets }: Account, market: string): TradingGround | null {
  if (isPerpetualName(market)) return 'futures';
  // A key for spot alone may not read positions.
  return Object.values(markets).some(({ tradesOn }) => tradesOn !== 'spot') ? 'margin' : null;
}

/** No limit of an order's size holds for what only reduces. */
function withMarket(account: Account, market: string, tradesOn: TradingGround): Account {
  const limits = { tradesOn, sides: ['buy', 'sell'], maxAmount: null, maxNotional: null } as const;
  return { ...account, markets: { ...account.markets, [market]: limits } };
}

/** Where that trades which the signal protects; null when the ledger does not tell it. */
async function groundOfProtected(
  { ledger }: ExecuteServices,
  { name: account }: Account,
  { market, of, turnedBy }: ProtectSignal,
): Promise<TradingGround | null> {
  if (isPerpetualName(market)) return 'futures';
  // On spot no exit turns anything.
  if (turnedBy !== undefined) return 'margin';
  const entry = await ledger.read({ account, signalId: of }).catch(ignoreDamaged);
  return entry === null ? null : groundOf(market, orderRecordOf(entry));
}

/** Where the last order of the relay in the market traded; null when it has sent none of late. */
async function groundOfLastOrder(
  services: ExecuteServices,
  { name }: Account,
  market: string,
): Promise<TradingGround | null> {
  const { entries } = await listRecent(services, name, market);
  const last = listRecords(entries).findLast(
    (record) => record.market === market && record.sentAtMs !== null,
  );
  return last === undefined ? null : groundOf(market, last);
}

/** @param record null for an alert that protects a position, which there is none of on spot */
function groundOf(market: string, record: ReturnType<typeof orderRecordOf>): TradingGround {
  if (isPerpetualName(market)) return 'futures';
  return (record?.spot ?? null) === null ? 'margin' : 'spot';
}

function ignoreDamaged(error: unknown): Entry | null {
  if (error instanceof RelayError && error.code === 'entry_damaged') return null;
  throw error;
}
