import { type Command, Option } from 'commander';
import { readDealsState } from '../../lib/account/account-deals.ts';
import { dayMs } from '../../lib/base/time-zone.ts';
import { findAccount } from '../../lib/model/settings.ts';
import type { BookedDeal } from '../../lib/reports/book-deals.ts';
import { readReport } from '../../lib/reports/read-report.ts';
import { type Grouping, groupings } from '../../lib/reports/report.ts';
import { addAccountArgument, type Context, namedAccount, runCommand } from '../command.ts';
import { describeDeal, listDealRecords } from '../export/deal-records.ts';
import { listReportRecords } from '../export/report-records.ts';
import { refuseUnknownAccount } from '../read/signal-filter.ts';
import { addLocalRangeOptions, chooseRange, type LocalRangeOptions, placeRange } from '../read/time-range.ts';
import type { Session } from '../session/session.ts';
import { renderReport } from '../show/render-report.ts';
import { createFormatOption, type Format, printResult } from '../show/result.ts';
import { formatLocal } from '../show/time-zone.ts';

interface ReportOptions extends LocalRangeOptions {
  readonly by: Grouping;
  readonly deals?: boolean;
  readonly format?: Format;
}

const defaultDays = 30;

export function addReportCommand(program: Command): void {
  const command = program
    .command('report')
    .description(
      `show how well signals were executed: fills, durations, slippage, fees and realised profit (default: the last ${defaultDays} days)`,
    );
  addAccountArgument(command, 'only this account (default: every configured one)');
  addLocalRangeOptions(command)
    .addOption(new Option('--by <what>', 'how figures are grouped').choices(groupings).default('market'))
    .option('--deals', 'list every deal, with its part of the profit')
    .addOption(createFormatOption())
    .action((account: string | undefined, options: ReportOptions, self: Command) =>
      runCommand(self, (context) => showReport(context, namedAccount(account, self), options)),
    );
}

async function showReport(
  context: Context,
  account: string | undefined,
  { by, format, deals: withDeals = false, ...range }: ReportOptions,
): Promise<void> {
  const { session, terminal } = context;
  const { timeZone } = terminal;
  const period = chooseRange(
    placeRange(range, timeZone),
    session.clock.nowMs(),
    (untilMs) => untilMs - defaultDays * dayMs,
  );
  const accounts = await chooseAccounts(session, account);
  const deals: BookedDeal[] = [];
  const dayOf = (timeMs: number) => formatLocal(timeMs, timeZone).slice(0, 'yyyy-mm-dd'.length);
  const executions = session.openExecutions();
  const report = await readReport(
    {
      ledger: session.openLedger(),
      executions,
      firstOf: async (name) => (await readDealsState(session.openFacts(), name))?.first ?? null,
      keptFromMs: executions.keptFromMs(session.clock.nowMs()),
      isSpot: (name, market) => findAccount(session.settings, name)?.markets[market]?.tradesOn === 'spot',
    },
    { accounts, ...period, by, dayOf },
    (deal) => (withDeals ? void deals.push(deal) : undefined),
  );
  const shown = { ...report, accounts, period, by, deals: withDeals ? deals : null };
  await printResult(context, format, {
    document: {
      accounts,
      ...period,
      by,
      ...report,
      ...(withDeals ? { deals: deals.map(describeDeal) } : {}),
    },
    table: () => renderReport(shown, terminal),
    records: () => (withDeals ? listDealRecords(deals) : listReportRecords(report, by)),
    notes: [],
  });
}

/** @throws CommandFailure (usage) for an account that is neither configured nor in the ledger */
async function chooseAccounts(session: Session, account: string | undefined): Promise<readonly string[]> {
  await refuseUnknownAccount(session.settings, session.openLedger(), account);
  return account === undefined ? Object.keys(session.settings.accounts) : [account];
}
