import type { Entry } from '../lib/ledger/entry.ts';
import type { Status } from '../lib/model/outcome.ts';
import { summariseFills } from './describe-execution.ts';
import { describeReason, refusedTickerOf } from './describe-refusal.ts';
import { summariseSignal } from './describe-signal.ts';
import type { Cell, Style } from './print.ts';
import { shortenId } from './short-id.ts';
import { type Column, type Row, renderRows } from './table.ts';
import type { Screen } from './terminal.ts';
import { formatLocal, nameOffset } from './time-zone.ts';

/** Where a list of signals is shown. */
export interface ListScreen extends Screen {
  /** Whether all signals belong to one account, so that the account column is left out. */
  readonly isOneAccount: boolean;
}

const statusStyles: Readonly<Record<Status, Style>> = {
  accepted: 'waiting',
  sending: 'waiting',
  placed: 'good',
  cancelled: 'good',
  satisfied: 'good',
  denied: 'bad',
  dry_run: 'faint',
  rejected: 'bad',
  not_sent: 'bad',
  unknown: 'alarm',
  not_placed: 'bad',
  invalid: 'bad',
};

export function styleStatus(status: Status): Cell {
  return { text: status, style: statusStyles[status] };
}

/** A table of signals. A signal that did not succeed has its reason below it. */
export function renderSignals(entries: readonly Entry[], screen: ListScreen): string {
  const columns: readonly Column[] = [
    { title: `time (${nameZone(entries, screen)})` },
    { title: 'signal' },
    ...(screen.isOneAccount ? [] : [{ title: 'account' }]),
    { title: 'market' },
    { title: 'what', wraps: true },
    { title: 'status' },
    ...(hasFills(entries) ? [{ title: 'filled' }] : []),
    { title: 'order', align: 'right', optional: true },
  ];
  const years = new Set(
    entries.map(({ createdAtMs }) => formatLocal(createdAtMs, screen.timeZone).slice(0, 4)),
  );
  return renderRows(
    columns,
    entries.map((entry) =>
      rowOf(entry, screen, { isOneYear: years.size === 1, hasFills: hasFills(entries) }),
    ),
    screen,
  );
}

/** The column is left out of a list in which nothing is known of any order. */
function hasFills(entries: readonly Entry[]): boolean {
  return entries.some(({ execution }) => execution !== null);
}

interface RowForm {
  readonly isOneYear: boolean;
  readonly hasFills: boolean;
}

function rowOf(entry: Entry, { timeZone, isOneAccount }: ListScreen, form: RowForm): Row {
  const time = formatLocal(entry.createdAtMs, timeZone);
  return {
    cells: [
      time.slice(form.isOneYear ? 'yyyy-'.length : 0, -'.123'.length),
      shortenId(entry.signalId),
      ...(isOneAccount ? [] : [entry.account]),
      entry.signal?.market ?? refusedTickerOf(entry) ?? '–',
      entry.signal === null ? '–' : summariseSignal(entry.signal),
      styleStatus(entry.status),
      ...(form.hasFills ? [summariseFills(entry)] : []),
      entry.orderId === null ? '–' : String(entry.orderId),
    ],
    note: describeReason(entry),
  };
}

/** The offset from UTC, or the name of the time zone if the offset differs between the signals. */
function nameZone(entries: readonly Entry[], { timeZone }: ListScreen): string {
  const names = new Set(entries.map(({ createdAtMs }) => nameOffset(createdAtMs, timeZone)));
  return names.size === 1 ? ([...names][0] ?? timeZone) : timeZone;
}
