import { type Command, Option } from 'commander';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { type Status, statuses } from '../../lib/model/outcome.ts';
import { findAccount, type Settings } from '../../lib/model/settings.ts';
import { createUnknownAccount } from '../session/session.ts';
import { refusedTickerOf } from '../show/describe-refusal.ts';
import { summariseSignal } from '../show/describe-signal.ts';
import type { EntryFilter } from './read-entries.ts';

/** The options of the command line that filter signals. */
export interface FilterOptions {
  readonly status?: Status;
  readonly account?: string;
  readonly market?: string;
  readonly text?: string;
}

/** Gives a command `--status`, `--market`, `--text` and `--account`. */
export function addFilterOptions(command: Command, ofAccount = 'only signals of this account'): Command {
  return command
    .addOption(new Option('--status <status>', 'only signals in this status').choices(statuses))
    .option('--market <market>', 'only signals of this market or ticker, for example BTC_USDT or BTCUSDT')
    .option('--text <text>', 'only signals with this text in id, comment, strategy, reason or order id')
    .option('--account <name>', ofAccount);
}

/** @param tickers ticker → market. It is needed for refused alerts, whose entries contain only the ticker. */
export function filterOf(
  { status, account, market, text }: FilterOptions,
  tickers: Readonly<Record<string, string>>,
): EntryFilter {
  const conditions = [
    ...(market === undefined ? [] : [(entry: Entry) => isOfMarket(entry, market.toUpperCase(), tickers)]),
    ...(text === undefined ? [] : [(entry: Entry) => holdsText(entry, text.toLowerCase())]),
  ];
  return {
    ...(status === undefined ? {} : { status }),
    ...(account === undefined ? {} : { account }),
    ...(conditions.length === 0 ? {} : { matches: (entry) => conditions.every((holds) => holds(entry)) }),
  };
}

function isOfMarket(entry: Entry, wanted: string, tickers: Readonly<Record<string, string>>): boolean {
  const { signal } = entry;
  const ticker = signal?.ticker ?? refusedTickerOf(entry);
  if (ticker === null) return false;
  const market = signal?.market ?? (Object.hasOwn(tickers, ticker) ? tickers[ticker] : undefined);
  return ticker.toUpperCase() === wanted || market === wanted;
}

/** Searches the texts of an entry that the commands show, not its evidence. */
function holdsText(entry: Entry, wanted: string): boolean {
  const { signalId, clientOrderId, orderId, signal, steps } = entry;
  const texts = [
    signalId,
    clientOrderId,
    orderId === null ? null : String(orderId),
    ...(signal === null
      ? [refusedTickerOf(entry)]
      : [signal.ticker, signal.market, signal.comment, signal.strategy, summariseSignal(signal)]),
    ...steps.map(({ note }) => note),
  ];
  return texts.some((text) => text?.toLowerCase().includes(wanted) === true);
}

/**
 * Refuses an account that is neither configured nor in the ledger. Signals of a removed account can still be
 * listed.
 *
 * @throws CommandFailure (usage)
 */
export async function refuseUnknownAccount(
  settings: Settings,
  ledger: Ledger,
  name: string | undefined,
): Promise<void> {
  if (name === undefined || findAccount(settings, name) !== null) return;
  const { entries } = await ledger.list({ account: name, limit: 1 });
  if (entries.length === 0) throw createUnknownAccount(settings, name);
}

/** For example `status denied, market BTC_USDT`; empty without a filter. */
export function describeFilter({ status, account, market, text }: FilterOptions): string {
  return [
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(market === undefined ? [] : [`market ${market}`]),
    ...(text === undefined ? [] : [`text "${text}"`]),
    ...(account === undefined ? [] : [`account ${account}`]),
  ].join(', ');
}
