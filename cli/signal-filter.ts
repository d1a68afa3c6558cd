import { type Command, Option } from 'commander';
import type { Entry } from '../lib/ledger/entry.ts';
import type { Ledger } from '../lib/ledger/ledger.ts';
import { type Status, statuses } from '../lib/model/outcome.ts';
import { findAccount, type Settings } from '../lib/model/settings.ts';
import { refusedTickerOf } from './describe-refusal.ts';
import { summariseSignal } from './describe-signal.ts';
import type { EntryFilter } from './read-entries.ts';
import { createUnknownAccount } from './session.ts';

/** Which signals are meant, as the command line says it. */
export interface FilterOptions {
  readonly status?: Status;
  readonly account?: string;
  readonly market?: string;
  readonly text?: string;
}

/** Gives a command `--status`, `--market`, `--text` and `--account`. */
export function addFilterOptions(command: Command, ofAccount = 'only those of this account'): Command {
  return command
    .addOption(new Option('--status <status>', 'only those in this status').choices(statuses))
    .option('--market <market>', 'only those of this market or ticker, for example BTC_USDT or BTCUSDT')
    .option('--text <text>', 'only those with this text in id, comment, strategy, reason or order id')
    .option('--account <name>', ofAccount);
}

/** @param tickers which market each ticker stands for: of a refused alert no more than its ticker is kept */
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

/** Looks at what people are shown of an entry, not at evidence. */
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
 * An account that was taken out of the configuration has its signals all the same; a misspelt one has none.
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

/** `status denied, market BTC_USDT`; empty when all are meant. */
export function describeFilter({ status, account, market, text }: FilterOptions): string {
  return [
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(market === undefined ? [] : [`market ${market}`]),
    ...(text === undefined ? [] : [`text "${text}"`]),
    ...(account === undefined ? [] : [`account ${account}`]),
  ].join(', ');
}
