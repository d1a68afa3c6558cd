import type { Command } from 'commander';
import { type LimitReport, readLimitUse } from '../../lib/account/limit-use.ts';
import { type Decimal, formatDecimal } from '../../lib/base/decimal.ts';
import { withoutWrites } from '../../lib/ledger/account-facts.ts';
import type { LimitUse } from '../../lib/limits/risk-limit.ts';
import { riskLimitNames } from '../../lib/limits/risk-limits.ts';
import type { Account } from '../../lib/model/account.ts';
import { currenciesInName } from '../../lib/model/market.ts';
import { addAccountArgument, type Context, namedAccount, runCommand } from '../command.ts';
import { askExchange, timeoutMs } from '../session/exchange.ts';
import { chooseAccount, describeChosen } from '../session/session.ts';
import { type Cell, formatAmount, paint } from '../show/print.ts';
import { type Column, renderRows } from '../show/table.ts';
import type { Screen } from '../show/terminal.ts';
import { formatLocal, nameOffset } from '../show/time-zone.ts';

export function addLimitsCommand(program: Command): void {
  const command = program
    .command('limits')
    .description(
      'show how much of each limit of growing risk is used, what is left, and why an order would be denied now; and the largest order of each market',
    );
  addAccountArgument(command, 'which account (default: the first configured one)').action(
    (account: string | undefined, _options: object, self: Command) =>
      runCommand(self, (context) => showLimits(context, namedAccount(account, self))),
  );
}

async function showLimits({ session, terminal, print }: Context, name: string | undefined): Promise<void> {
  const account = chooseAccount(session.settings, name);
  const facts = session.openFacts();
  const executions = session.openExecutions();
  const services = {
    clock: session.clock,
    ledger: session.openLedger(),
    // This command only reads.
    executions: {
      followed: executions.followed.bind(executions),
      record: executions.record.bind(executions),
      recordOthers: async () => undefined,
      listFills: executions.listFills.bind(executions),
      keptFromMs: executions.keptFromMs.bind(executions),
    },
    facts: withoutWrites(facts),
    alarms: { raise: silence },
    log: { info: silence, warn: silence, error: silence },
  };
  const report = await askExchange(session, account, (client) =>
    readLimitUse(services, account, client, { timeoutMs }),
  );
  print({ account: account.name, ...report, largest: listLargest(account) }, () =>
    [
      renderReport(report, account.name, terminal),
      'The largest order in each market. One that only reduces a position passes it:',
      renderLargest(account, terminal),
      paint(describeChosen(session, account, name, 'limits')),
    ].join('\n\n'),
  );
}

const silence = () => undefined;

const columns: readonly Column[] = [
  { title: 'limit' },
  { title: 'of', optional: true },
  { title: 'allowed', align: 'right', wraps: true },
  { title: 'used', align: 'right' },
  { title: 'left', align: 'right', wraps: true },
  { title: 'now' },
];

function renderReport({ limits, unknown, uncounted }: LimitReport, account: string, screen: Screen): string {
  if (limits.length === 0)
    return `Account ${account} sets no limit of growing risk: ${riskLimitNames.join(', ')}. relay.config.example.ts explains them.`;
  return [
    renderRows(
      columns,
      limits.map((use) => ({ cells: cellsOf(use), note: noteOf(use, screen) })),
      screen,
    ),
    ...unknown.map((text) => paint({ text: `Not known, so nothing may be opened: ${text}.`, style: 'bad' })),
    ...uncounted.map((text) => paint({ text: `Not counted: ${text}.`, style: 'bad' })),
    paint(
      'Orders that only reduce a position, and cancellations, pass all of these limits. `npx relay pause --everything` alone stops reductions, too.',
    ),
  ].join('\n\n');
}

/** The largest order in each market as the document has it; null: any. */
function listLargest({ markets }: Account): readonly object[] {
  const formatMost = (most: Decimal | null) => (most === null ? null : formatDecimal(most));
  return Object.entries(markets).map(([market, { maxAmount, maxNotional }]) => ({
    market,
    maxAmount: formatMost(maxAmount),
    maxNotional: formatMost(maxNotional),
  }));
}

function renderLargest({ markets }: Account, screen: Screen): string {
  const rows = Object.entries(markets).map(([market, { maxAmount, maxNotional }]) => {
    const { base, quote } = currenciesInName(market);
    return { cells: [market, describeMost(maxAmount, base), describeMost(maxNotional, quote)], note: null };
  });
  return renderRows(
    [{ title: 'market' }, { title: 'maxAmount', align: 'right' }, { title: 'maxNotional', align: 'right' }],
    rows,
    screen,
  );
}

function describeMost(most: Decimal | null, currency: string): string {
  return most === null ? 'any' : `${formatAmount(most)} ${currency}`;
}

function cellsOf({ name, of, limit, used, left, unit, denies }: LimitUse): readonly Cell[] {
  return [
    name,
    of ?? '',
    unit === null ? limit : `${limit} ${unit}`,
    used ?? '–',
    left ?? '–',
    denies === null ? { text: 'allows', style: 'good' } : { text: 'denies', style: 'bad' },
  ];
}

function noteOf({ denies, sinceMs }: LimitUse, { timeZone }: Screen): string | null {
  const since =
    sinceMs === null
      ? null
      : `since ${formatLocal(sinceMs, timeZone).slice(0, -4)} ${nameOffset(sinceMs, timeZone)}`;
  const parts = [since, denies].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(': ');
}
