import { type Decimal, formatDecimal } from '../../lib/base/decimal.ts';
import type { BookedDeal } from '../../lib/reports/book-deals.ts';
import type { Caveats, Report } from '../../lib/reports/read-report.ts';
import type { Grouping, ReportRow } from '../../lib/reports/report.ts';
import type { Period } from '../../lib/snapshots/snapshot-store.ts';
import { describeDurations, describeWins, formatMoney, formatSigned, joinFees } from './describe-trades.ts';
import { type Cell, paint } from './print.ts';
import { shortenId } from './short-id.ts';
import { renderStacked } from './stacked-table.ts';
import { type Column, renderOneLineRows, renderTable } from './table.ts';
import type { Screen } from './terminal.ts';
import { describeTime, formatLocal, nameOffset } from './time-zone.ts';

/** A report, and what it is about. */
export interface ShownReport extends Report {
  readonly accounts: readonly string[];
  readonly period: Period;
  readonly by: Grouping;
  /** Null: they are not listed. */
  readonly deals: readonly BookedDeal[] | null;
}

/** Three tables with the same rows, each of which fits a terminal, and what their figures mean. */
export function renderReport(shown: ShownReport, screen: Screen): string {
  const { rows, totals, caveats, deals } = shown;
  const parts = [renderHead(shown, screen)];
  if (rows.length === 0) parts.push(describeNothing(shown));
  else {
    const hasDeals = rows.some((row) => row.deals > 0);
    parts.push(renderSignals(shown, screen));
    parts.push(
      ...(hasDeals
        ? [renderFills(shown, screen), renderProfit(shown, screen)]
        : ['No order was filled in this period: there is no slippage, no fee and no profit to show.']),
    );
    parts.push(listNotes(totals, caveats, hasDeals, screen).map(paint).join('\n'));
  }
  if (deals !== null && deals.length > 0) parts.push(renderDeals(deals, screen));
  return parts.filter((part) => part !== '').join('\n\n');
}

function renderHead({ accounts, period }: ShownReport, { timeZone }: Screen): string {
  const [start, end] = [period.fromMs, period.untilMs - 1].map((timeMs) =>
    formatLocal(timeMs, timeZone).slice(0, 'yyyy-mm-dd hh:mm'.length),
  );
  const of = accounts.length === 1 ? 'account' : 'accounts';
  const title = paint({ text: `report of ${of} ${accounts.join(', ')}`, style: 'strong' });
  return `${title}, ${start} to ${end} ${nameOffset(period.untilMs - 1, timeZone)}`;
}

function describeNothing({ accounts }: ShownReport): string {
  return `No signal asked for an order in this period, and none was filled. \`signals\` lists what the relay received for ${accounts.join(', ')}; --from and --to choose another period.`;
}

/** The rows and, if there are several groups, their totals. */
function rowsOf({ rows, totals }: ShownReport): readonly (readonly [Cell, ReportRow])[] {
  const hasTotals = rows.length > totals.length;
  return [
    ...rows.map((row) => [row.group === '' ? '(none)' : row.group, row] as const),
    ...(hasTotals ? totals.map((row) => [{ text: 'total', style: 'strong' as const }, row] as const) : []),
  ];
}

const right = { align: 'right' } as const;

function renderSignals(shown: ShownReport, screen: Screen): string {
  return renderTable(
    [
      { title: shown.by },
      { title: 'in' },
      { title: 'signals', ...right },
      { title: 'placed', ...right },
      { title: 'filled', ...right },
      { title: 'in part', ...right },
      { title: 'alert to order (p50 / p95)', ...right },
      { title: 'order to fill (p50 / p95)', ...right },
    ],
    rowsOf(shown).map(([group, { quote, signals, alertToOrder, orderToFill }]) => [
      group,
      quote,
      String(signals.received),
      String(signals.placed),
      String(signals.filledWhole),
      String(signals.filledInPart),
      describeDurations(alertToOrder),
      describeDurations(orderToFill),
    ]),
    screen,
  );
}

function renderFills(shown: ShownReport, screen: Screen): string {
  return renderTable(
    [
      { title: shown.by },
      { title: 'deals', ...right },
      { title: 'turnover', ...right },
      { title: 'slippage', ...right },
      { title: 'in money', ...right },
      { title: 'orders compared', ...right },
      { title: 'fees paid', ...right, wraps: true },
    ],
    rowsOf(shown).map(([group, { deals, turnover, slippage, fees, quote }]) => [
      group,
      String(deals),
      `${formatMoney(turnover)} ${quote}`,
      slippage.basisPoints === null ? '–' : `${signOf(slippage.basisPoints)} bp`,
      slippage.basisPoints === null ? '–' : `${formatSigned(slippage.money)} ${quote}`,
      `${slippage.compared} of ${slippage.orders}`,
      joinFees(fees),
    ]),
    screen,
  );
}

function signOf(basisPoints: Decimal): string {
  return `${basisPoints.s > 0 && !basisPoints.eq('0') ? '+' : ''}${basisPoints.toFixed(2)}`;
}

function renderProfit(shown: ShownReport, screen: Screen): string {
  return renderTable(
    [
      { title: shown.by },
      { title: 'profit before fees', ...right },
      { title: 'fees', ...right },
      { title: 'net', ...right },
      { title: 'in' },
      { title: 'trades won', ...right },
    ],
    rowsOf(shown).map(([group, { profit, quote, trades }]) => [
      group,
      formatSigned(profit.gross),
      formatMoney(profit.fees),
      { text: formatSigned(profit.net), style: profit.net.s < 0 ? 'bad' : 'good' },
      quote,
      describeWins(trades),
    ]),
    screen,
  );
}

/** What a reader needs to know to check the figures by hand. */
function listNotes(
  totals: readonly ReportRow[],
  { firstFillAtMs, expiredBeforeMs, unmatched, unvaluedFees, otherDeals, sharedDeals, unread }: Caveats,
  hasDeals: boolean,
  { timeZone }: Screen,
): readonly string[] {
  const isCompared = totals.some(({ slippage }) => slippage.compared > 0);
  const hasBaseFee = totals.some(({ fees, quote }) => Object.keys(fees).some((asset) => asset !== quote));
  return [
    'p50: half of the signals took at most this long; p95: 95 of 100. From the stored alert to the order that was sent, and on to its first fill.',
    ...(hasDeals
      ? [
          isCompared
            ? 'Slippage above zero: filled at a worse price than the referencePrice of the alert. In basis points (1 bp = 0.01 %) of what the deals would have been worth at that price.'
            : 'No filled order has a reference price: add "referencePrice": "{{close}}" to the alert to see its slippage.',
          `Profit: realised, at average cost, counted from the first stored fill${firstFillAtMs === null ? '' : ` (${describeTime(firstFillAtMs, timeZone)})`}. Funding is not in it. A trade is an order that closed a position or a part of it; it is won when its deals made more than their fees.`,
        ]
      : []),
    ...(expiredBeforeMs === null
      ? []
      : [
          `Fills from before ${describeTime(expiredBeforeMs, timeZone)} may have expired (aws.keepLedgerDays), and with them the cost of what was opened before. The profit of its close is not known; an order that is not marked as reducing then counts as one that opens the opposite position.`,
        ]),
    ...(otherDeals === 0
      ? []
      : [
          `Deals that no signal asked for, by hand or by the exchange: ${otherDeals}. They are in these figures; with --by strategy they are a row of their own.`,
        ]),
    ...(sharedDeals === 0
      ? []
      : [
          `Deals that two accounts of relay.config.ts have, because their keys are of one account at the exchange: ${sharedDeals}. They count once; give each account one of its own at the exchange.`,
        ]),
    ...(hasBaseFee && hasDeals
      ? ['A fee in the base currency, as spot buys pay it, counts at the price of its deal.']
      : []),
    ...Object.entries(unmatched).map(
      ([market, amount]) =>
        `${formatDecimal(amount)} of ${market} were sold or closed that no stored fill had opened: their profit is unknown and left out.`,
    ),
    ...unvaluedFees.map(
      (asset) => `Fees in ${asset} are not deducted: the deals do not say what ${asset} was worth.`,
    ),
    ...(unread === 0
      ? []
      : [
          `The fills of ${unread} placed orders have not been read yet. The relay reads them while it runs, in the live dialect.`,
        ]),
  ];
}

const dealColumns: readonly Column[] = [
  { title: 'time' },
  { title: 'deal', ...right },
  { title: 'signal' },
  { title: 'order', ...right },
  { title: 'market' },
  { title: 'side' },
  { title: 'amount', ...right },
  { title: 'price', ...right },
  { title: 'fee', ...right },
  { title: 'slippage', ...right },
  { title: 'profit', ...right },
];

/** Newest first, on one line or two a deal. Files and documents have the oldest first. */
function renderDeals(unsorted: readonly BookedDeal[], screen: Screen): string {
  const deals = unsorted.toSorted((one, other) => other.fill.atMs - one.fill.atMs);
  const rows = deals.map((deal) => ({ cells: dealCells(deal, screen), note: null }));
  const table = renderOneLineRows(dealColumns, rows, screen) ?? renderNarrowDeals(deals, screen);
  return `${paint({ text: 'deals, newest first', style: 'strong' })}\n\n${table}`;
}

function dealCells(
  { fill, amount, fee, slippage, profit, closed }: BookedDeal,
  screen: Screen,
): readonly Cell[] {
  return [
    formatLocal(fill.atMs, screen.timeZone).slice(0, -'.123'.length),
    String(fill.dealId),
    fill.signalId === '' ? 'by hand' : shortenId(fill.signalId),
    `${fill.role === 'order' || fill.role === 'other' ? '' : `${nameRole(fill)} `}${fill.orderId}`,
    fill.market,
    fill.side,
    formatDecimal(amount),
    fill.price,
    `${formatDecimal(fee)} ${fill.feeAsset}`,
    slippage === null ? '–' : formatSigned(slippage.money),
    closed.eq('0') ? '–' : formatSigned(profit),
  ];
}

function nameRole({ role }: BookedDeal['fill']): string {
  return role.replace('_', '-');
}

const firstOfDeal = [0, 4, 5, 6, 7, 10];

function renderNarrowDeals(deals: readonly BookedDeal[], screen: Screen): string {
  return renderStacked(
    firstOfDeal.flatMap((index) => dealColumns[index] ?? []),
    [
      { title: 'signal' },
      { title: 'part' },
      { title: 'deal', ...right },
      { title: 'fee', ...right },
      { title: 'slippage', ...right, cuts: true },
    ],
    deals.map((deal) => {
      const cells = dealCells(deal, screen);
      const [signal = '', fee = '', slippage = ''] = [cells[2], cells[8], cells[9]];
      return {
        first: firstOfDeal.map((index) => cells[index] ?? ''),
        second: [signal, nameRole(deal.fill), String(deal.fill.dealId), fee, slippage],
      };
    }),
    screen,
  );
}
