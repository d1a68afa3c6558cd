import { type Command, Option } from 'commander';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { type Context, runCommand } from '../command.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import { readReceipt } from '../session/alert-receipt.ts';
import { chooseAccount, commandFor, type Session } from '../session/session.ts';
import { describeMeaning } from '../show/describe-meaning.ts';
import { renderFields } from '../show/print.ts';
import { styleStatus } from '../show/render-signals.ts';

interface CloseOptions {
  readonly part?: string;
  readonly side?: 'long' | 'short';
  readonly maxSlippage?: string;
  readonly keepEntries?: true;
  readonly account?: string;
}

export function addCloseCommand(program: Command): void {
  program
    .command('close')
    .description(
      'close the position of one market with its stop-loss, its take-profit and the entries that rest, as an alert with "action": "close" does; also while paused',
    )
    .argument('<market>', 'for example BTC_USDT, or a ticker of it')
    .option('--part <per cent>', 'close only this share of the position, for example 50%')
    .addOption(
      new Option('--side <side>', 'which position, for an account in hedge mode').choices(['long', 'short']),
    )
    .option('--keep-entries', 'leave the orders of this relay that rest for an entry')
    .option('--max-slippage <per cent>', 'less than the account allows, or for an account that names none')
    .option('--account <name>', 'which account (default: the first configured one)')
    .action((market: string, options: CloseOptions, command: Command) =>
      runCommand(command, (context) => closePosition(context, market, options)),
    );
}

/** A close waits until the exchange's list can show the last order of the market, which takes ten seconds. */
const longestWaitMs = 20_000;
const pauseMs = 100;
/** What leaves no doubt that the close was carried out, or that nothing had to be closed. */
const carriedOut: readonly Status[] = ['placed', 'satisfied', 'dry_run'];

async function closePosition(
  { session, printChange }: Context,
  named: string,
  options: CloseOptions,
): Promise<void> {
  const account = chooseAccount(session.settings, options.account);
  const { ticker, market } = findTicker(session, account, named);
  const signalId = await sendClose(session, account, ticker, options);
  const entry = await waitForOutcome(session, account, signalId);
  const { status } = entry;
  const note = entry.steps.at(-1)?.note ?? '';
  const next = commandFor(session.target, `signal ${signalId}`);
  if (!carriedOut.includes(status) && !isUnderWay(entry))
    throw new CommandFailure(
      'not_closed',
      `the position in ${market} was not surely closed: ${status}: ${note}`,
      `${next} shows each step. In an emergency close it on the website of the exchange.`,
    );
  printChange({ account: account.name, market, signalId, status, note }, () =>
    [
      renderFields([
        ['signal', signalId],
        ['status', styleStatus(status)],
        ['', describeMeaning(entry)],
        ['', note],
      ]),
      '',
      isUnderWay(entry)
        ? `It is not carried out yet. For the outcome: ${next}`
        : `What is left of the position: ${commandFor(session.target, 'positions')}`,
    ].join('\n'),
  );
}

/** An alert names a market by its ticker. Any of them will do. */
function findTicker({ settings }: Session, account: Account, named: string) {
  const tickers = Object.entries(settings.tickers).filter(([, market]) =>
    Object.hasOwn(account.markets, market),
  );
  const wanted = named.toUpperCase();
  const found = tickers.find(([ticker, market]) => market === wanted || ticker.toUpperCase() === wanted);
  const isOnSpot = (market: string) => account.markets[market]?.tradesOn === 'spot';
  if (found !== undefined && isOnSpot(found[1]))
    throw createUsageFailure(
      `${found[1]} trades on spot, where there are no positions`,
      'Send an alert that sells: "action": "sell" with "quantityPercent": "100%".',
    );
  if (found !== undefined) return { ticker: found[0], market: found[1] };
  const markets = [...new Set(tickers.map(([, market]) => market).filter((market) => !isOnSpot(market)))];
  throw createUsageFailure(
    `"${named}" is no market of account ${account.name} with a ticker`,
    `Name one of: ${markets.join(', ')}. The tickers stand in relay.config.ts.`,
  );
}

/** Through the webhook, so that the close keeps its place in the line of its market and stands in the ledger. */
async function sendClose(
  session: Session,
  account: Account,
  ticker: string,
  { part, side, maxSlippage, keepEntries }: CloseOptions,
): Promise<string> {
  const time = new Date(session.clock.nowMs()).toISOString();
  const alert = {
    ticker,
    action: 'close',
    id: `close-${time}`,
    time,
    comment: 'relay close',
    ...(part === undefined ? {} : { quantityPercent: part }),
    ...(side === undefined ? {} : { positionSide: side.toUpperCase() }),
    ...(maxSlippage === undefined ? {} : { maxSlippage }),
    ...(keepEntries === undefined ? {} : { keepEntries }),
  };
  const response = await session.sendAlert(account, Buffer.from(JSON.stringify(alert)));
  const [receipt] = readReceipt(response, session.relayName);
  return receipt?.signalId ?? alert.id;
}

/** The entry with its outcome, or as it is when the time is up. */
async function waitForOutcome(session: Session, account: Account, signalId: string): Promise<Entry> {
  const ledger = session.openLedger();
  const endMs = session.clock.nowMs() + longestWaitMs;
  for (;;) {
    const entry = await ledger.read({ account: account.name, signalId });
    if (entry !== null && !isUnderWay(entry)) return entry;
    if (session.clock.nowMs() >= endMs) return entry ?? failUnread(signalId);
    await session.clock.sleep(pauseMs);
  }
}

function isUnderWay({ status }: Entry): boolean {
  return status === 'accepted' || status === 'sending';
}

function failUnread(signalId: string): never {
  throw new CommandFailure(
    'unknown_signal',
    `the relay took the close, and its ledger does not show signal "${signalId}"`,
    '`npx relay signals` lists what became of every alert.',
  );
}
