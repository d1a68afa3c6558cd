import type { About, AccountAbout, Attention, SignalList, SignalRow } from '../../dashboard/documents.ts';
import { readVersion } from '../../lib/host/version.ts';
import type { Entry, Step } from '../../lib/ledger/entry.ts';
import { orderRecordOf } from '../../lib/ledger/order-record.ts';
import { readPauses } from '../../lib/ledger/pauses.ts';
import { type Account, findRehearsalReason } from '../../lib/model/account.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { placesOrder } from '../../lib/model/signal.ts';
import type { ToldEnding } from '../../lib/reports/read-endings.ts';
import { listUntold } from '../checks/notice-checks.ts';
import { createUsageFailure } from '../failure.ts';
import { type EntryFilter, type EntryListing, readEntries } from '../read/read-entries.ts';
import { readSignalEndings } from '../read/read-signal-endings.ts';
import { filterOf } from '../read/signal-filter.ts';
import { describeExchange, describeTarget, type Session } from '../session/session.ts';
import { summariseEnding } from '../show/describe-ending.ts';
import { summariseFills } from '../show/describe-execution.ts';
import { describeReason, refusedTickerOf } from '../show/describe-refusal.ts';
import { summariseSignal } from '../show/describe-signal.ts';
import { cellText } from '../show/print.ts';

/** A ledger on AWS is asked less often: each reading is paid for. */
const refreshMs = { local: 1_500, stack: 5_000 };

/** What the page says of the relay that it shows. */
export function describeRelay(session: Session, isReadOnly: boolean): About {
  const { settings, target } = session;
  const exchange = session.locateExchange();
  const isPaper = exchange.kind === 'paper';
  return {
    relay: describeTarget(target),
    version: readVersion(),
    isReadOnly,
    exchange: describeExchange(exchange),
    isPaper,
    accounts: Object.values(settings.accounts).map((account) => describeAccount(session, account, isPaper)),
    untold: listUntold(session),
    refreshMs: refreshMs[target.kind],
  };
}
/** Whether a market order of the account must say itself how far it may fill. */
export function needsSlippage({ maxSlippageRate, allowUnguardedMarket }: Account): boolean {
  return maxSlippageRate === null && !allowUnguardedMarket;
}

function describeAccount({ settings }: Session, account: Account, isPaper: boolean): AccountAbout {
  const { name, mode, markets } = account;
  return {
    name,
    mode,
    isSafe: isPaper || findRehearsalReason(mode, false) !== null,
    needsSlippage: needsSlippage(account),
    markets: Object.entries(markets).map(([market, { tradesOn }]) => ({
      market,
      tradesOn,
      tickers: Object.keys(settings.tickers).filter((ticker) => settings.tickers[ticker] === market),
    })),
  };
}

/** Which signals the page asks for. */
export interface SignalQuery {
  readonly status?: Status | undefined;
  readonly account?: string | undefined;
  readonly market?: string | undefined;
  readonly text?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly untilMs?: number | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}

/** How many signals of unknown outcome are shown at once. */
const mostUnknown = 50;

/** @throws CommandFailure (usage) when `before` is no place of this ledger */
export async function listSignals(session: Session, query: SignalQuery): Promise<SignalList> {
  const ledger = session.openLedger();
  const { limit, before } = query;
  const range = before === undefined ? { limit } : { limit, before };
  const { entries, next, isCut } = await readPage(ledger, readFilter(session, query), range);
  return { rows: await describeRows(session, entries), next, isCut };
}

/** What must not be overlooked, whatever is looked at. */
export async function readAttention(session: Session): Promise<Attention> {
  const { entries } = await session.openLedger().list({ status: 'unknown', limit: mostUnknown });
  return {
    pauses: await readPauses(session.openLedger(), Object.keys(session.settings.accounts)),
    unknown: await describeRows(session, entries),
  };
}

async function readPage(...asked: Parameters<typeof readEntries>): Promise<EntryListing> {
  try {
    return await readEntries(...asked);
  } catch (error) {
    if (error instanceof RangeError) throw createUsageFailure(error.message, 'Reload the page.');
    throw error;
  }
}

function readFilter({ settings }: Session, query: SignalQuery): EntryFilter {
  const { status, account, market, text, fromMs, untilMs } = query;
  const options = {
    ...(status === undefined ? {} : { status }),
    ...(account === undefined ? {} : { account }),
    ...(market === undefined ? {} : { market }),
    ...(text === undefined ? {} : { text }),
  };
  return {
    ...filterOf(options, settings.tickers),
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(untilMs === undefined ? {} : { untilMs }),
  };
}

async function describeRows(session: Session, entries: readonly Entry[]): Promise<readonly SignalRow[]> {
  const endings = await readSignalEndings(session, entries);
  return entries.map((entry, index) => describeRow(entry, endings[index] ?? null));
}

function describeRow(entry: Entry, ending: ToldEnding | null): SignalRow {
  const { account, signalId, status, signal, createdAtMs, updatedAtMs, orderId, execution } = entry;
  return {
    account,
    signalId,
    status,
    atMs: createdAtMs,
    updatedAtMs,
    market: signal?.market ?? refusedTickerOf(entry) ?? '',
    side: sideOf(entry),
    what: signal === null ? 'refused' : summariseSignal(signal),
    strategy: signal?.strategy ?? null,
    filled: execution === null ? null : cellText(summariseFills(entry)),
    result: ending === null ? null : cellText(summariseEnding(ending)),
    reason: describeReason(entry),
    orderId,
    tookMs: tookOf(entry.steps),
  };
}

/** Of its order: known from the alert, or once the position was read. */
function sideOf(entry: Entry): SignalRow['side'] {
  const { signal } = entry;
  if (signal === null || !placesOrder(signal)) return null;
  return signal.action === 'order' ? signal.side : (orderRecordOf(entry)?.side ?? null);
}

/** From its arrival to its first outcome, which may be that it is unknown. */
function tookOf([first, ...later]: readonly Step[]): number | null {
  const outcome = later.find(({ status }) => status !== 'sending');
  return first === undefined || outcome === undefined ? null : outcome.atMs - first.atMs;
}
