import type { Entry } from '../../lib/ledger/entry.ts';
import { mostFollowed } from '../../lib/ledger/executions.ts';
import { listRecords } from '../../lib/ledger/order-record.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import { readReceipt } from './alert-receipt.ts';
import type { Session } from './session.ts';

/** A signal depends on a position that the exchange's list may show ten seconds late. */
const longestWaitMs = 20_000;
const pauseMs = 100;

/** An alert names a market by its ticker. */
export interface TickerOfMarket {
  readonly ticker: string;
  readonly market: string;
}

/** A ticker for each market of the account in which there are positions. */
export function listPositionTickers({ tickers }: Settings, { markets }: Account): readonly TickerOfMarket[] {
  const listed = Object.entries(tickers)
    .filter(([, market]) => Object.hasOwn(markets, market) && markets[market]?.tradesOn !== 'spot')
    .map(([ticker, market]) => ({ ticker, market }));
  return [...new Map(listed.toReversed().map((one) => [one.market, one])).values()].reverse();
}

/**
 * A ticker for each market that was taken out of the account's markets while the relay follows orders there, on margin or
 * futures.
 */
export async function listRemovedTickers(
  session: Session,
  account: Account,
): Promise<readonly TickerOfMarket[]> {
  const markets = await marketsWithPositions(session, account);
  const tickers = Object.entries(session.settings.tickers);
  return [...markets].flatMap((market) => {
    const ticker = tickers.find(([, mapped]) => mapped === market)?.[0];
    return Object.hasOwn(account.markets, market) || ticker === undefined ? [] : [{ ticker, market }];
  });
}

/** The markets in which the relay follows orders on margin or futures. */
export async function marketsWithPositions(session: Session, account: Account): Promise<ReadonlySet<string>> {
  const followed = listRecords(await session.openExecutions().followed(account.name, mostFollowed));
  return new Set(followed.flatMap(({ spot, market }) => (spot === null ? [market] : [])));
}

/**
 * A ticker of the market that is named by its name or by one of its tickers. Any of them will do. The market may have been
 * taken out of the account's markets: the relay knows whether it has a position there.
 *
 * @throws CommandFailure (usage) when the market has no ticker, or trades on spot
 */
export function findTicker({ settings }: Session, account: Account, named: string): TickerOfMarket {
  const wanted = named.toUpperCase();
  const meant = Object.entries(settings.tickers).filter(
    ([ticker, market]) => market === wanted || ticker.toUpperCase() === wanted,
  );
  const found = meant.find(([, market]) => Object.hasOwn(account.markets, market)) ?? meant[0];
  if (found !== undefined && account.markets[found[1]]?.tradesOn === 'spot')
    throw createUsageFailure(
      `${found[1]} trades on spot, where there are no positions`,
      'An alert sells there. From here, write it to a file: {"ticker": "…", "action": "sell", "quantityPercent": "100%", "time": "{{timenow}}"}, and `npx relay send FILE`.',
    );
  if (found !== undefined) return { ticker: found[0], market: found[1] };
  const markets = listPositionTickers(settings, account).map(({ market }) => market);
  const choice =
    markets.length === 0
      ? `Account ${account.name} has no such market.`
      : `Name one of: ${markets.join(', ')}.`;
  throw createUsageFailure(
    `"${named}" is no market of account ${account.name} with a ticker`,
    `${choice} The tickers stand in relay.config.ts. What is open in a market without one, close on the website of the exchange.`,
  );
}

/** What of an alert a command says itself; time, id and comment are its own. */
export type CommandAlert = Readonly<Record<string, unknown>> & { readonly action: string };

/**
 * Sends an alert with one signal through the webhook, so that it keeps its place in the line of its market and stands in the
 * ledger.
 *
 * @param command as a person types it, for example `close`
 * @returns the id of the signal that comes last
 * @throws CommandFailure when the alert was refused
 */
export async function sendSignal(
  session: Session,
  account: Account,
  command: string,
  { ticker, market }: TickerOfMarket,
  alert: CommandAlert,
): Promise<string> {
  const nowMs = session.clock.nowMs();
  const time = new Date(nowMs).toISOString();
  const { positionSide } = alert;
  const side = typeof positionSide === 'string' ? `-${positionSide}` : '';
  // Short: the ids of what follows from a signal begin with its own.
  const id = `${command}-${market}${side}-${nowMs.toString(36)}`;
  const body = { ticker, id, time, comment: `relay ${command}`, ...alert };
  const response = await session.sendAlert(account, Buffer.from(JSON.stringify(body)));
  try {
    return readReceipt(response, session.relayName).at(-1)?.signalId ?? id;
  } catch (error) {
    throw error instanceof CommandFailure && error.code === 'invalid_signal'
      ? createWrongOption(error, command)
      : error;
  }
}

/** Nobody has written the alert: its fields are options of the command. */
function createWrongOption({ code, message, issues }: CommandFailure, command: string): CommandFailure {
  const action = `Correct the option that each issue is about: \`npx relay help ${command}\` shows them.`;
  return new CommandFailure(code, message, action, { issues });
}

/**
 * Waits until a signal has its outcome.
 *
 * @returns its entry, without an outcome when the time is up
 * @throws CommandFailure when the ledger does not have it
 */
export async function waitForOutcome(session: Session, account: Account, signalId: string): Promise<Entry> {
  const ledger = session.openLedger();
  const endMs = session.clock.nowMs() + longestWaitMs;
  for (;;) {
    const entry = await ledger.read({ account: account.name, signalId });
    if (entry !== null && !isPending(entry)) return entry;
    if (session.clock.nowMs() >= endMs) return entry ?? failUnread(signalId);
    await session.clock.sleep(pauseMs);
  }
}

export function isPending({ status }: Pick<Entry, 'status'>): boolean {
  return status === 'accepted' || status === 'sending';
}

function failUnread(signalId: string): never {
  throw new CommandFailure(
    'unknown_signal',
    `the relay took the alert, and its ledger does not show signal "${signalId}"`,
    '`npx relay signals` lists what became of every alert.',
  );
}
