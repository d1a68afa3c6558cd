import type { Entry } from '../../lib/ledger/entry.ts';
import type { Status } from '../../lib/model/outcome.ts';
import type { ToldEnding } from '../../lib/reports/read-endings.ts';
import { summariseEnding } from './describe-ending.ts';
import { summariseFills } from './describe-execution.ts';
import { describeReason, refusedTickerOf } from './describe-refusal.ts';
import { summariseSignal } from './describe-signal.ts';
import type { Cell, Style } from './print.ts';
import { shortenId } from './short-id.ts';
import { renderStacked } from './stacked-table.ts';
import { type Column, type Row, renderOneLineRows } from './table.ts';
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

/** A signal, and how its order ended; null for a signal that placed none. */
export interface ShownEntry {
  readonly entry: Entry;
  readonly ending: ToldEnding | null;
}

/**
 * A table of signals. A signal that did not succeed has its reason below it. Where the lines are too long for the screen,
 * each signal has two shorter ones, and `status` says how its order ended.
 */
export function renderSignals(shown: readonly ShownEntry[], screen: ListScreen): string {
  const entries = shown.map(({ entry }) => entry);
  const isKnown = shown.some(({ ending }) => ending !== null && ending.state !== 'unread');
  const form: RowForm = { ...screen, isOneYear: isOneYear(entries, screen), isKnown };
  const time = `time (${nameZone(entries, screen)})`;
  const columns: readonly Column[] = [
    { title: time },
    { title: 'signal' },
    ...(screen.isOneAccount ? [] : [{ title: 'account' }]),
    { title: 'market' },
    { title: 'what' },
    { title: 'status' },
    ...(isKnown ? [{ title: 'filled' }, { title: 'result' }] : []),
    { title: 'order', align: 'right' },
  ];
  const rows = shown.map((one) => rowOf(one, form));
  return renderOneLineRows(columns, rows, screen) ?? renderNarrow(shown, form, time);
}

function renderNarrow(shown: readonly ShownEntry[], form: RowForm, time: string): string {
  const account = form.isOneAccount ? [] : [{ title: 'account' }];
  return renderStacked(
    [{ title: time }, { title: 'market' }, { title: 'what', cuts: true }, { title: 'status' }],
    [{ title: 'signal' }, ...account, { title: 'filled, or why not', cuts: true }],
    shown.map(({ entry, ending }) => ({
      first: [
        formatTime(entry, form),
        marketOf(entry),
        askedOf(entry),
        ending === null ? styleStatus(entry.status) : summariseEnding(ending),
      ],
      second: [
        shortenId(entry.signalId),
        ...(form.isOneAccount ? [] : [entry.account]),
        describeReason(entry) ?? summariseFills(entry),
      ],
    })),
    form,
  );
}

interface RowForm extends ListScreen {
  readonly isOneYear: boolean;
  /** Whether anything is known of the order of a signal of the list. */
  readonly isKnown: boolean;
}

function isOneYear(entries: readonly Entry[], { timeZone }: Screen): boolean {
  return new Set(entries.map(({ createdAtMs }) => formatLocal(createdAtMs, timeZone).slice(0, 4))).size === 1;
}

function formatTime({ createdAtMs }: Entry, { timeZone, isOneYear }: RowForm): string {
  return formatLocal(createdAtMs, timeZone).slice(isOneYear ? 'yyyy-'.length : 0, -'.123'.length);
}

function marketOf(entry: Entry): string {
  return entry.signal?.market ?? refusedTickerOf(entry) ?? '–';
}

function askedOf({ signal }: Entry): string {
  return signal === null ? '–' : summariseSignal(signal);
}

function rowOf({ entry, ending }: ShownEntry, form: RowForm): Row {
  return {
    cells: [
      formatTime(entry, form),
      shortenId(entry.signalId),
      ...(form.isOneAccount ? [] : [entry.account]),
      marketOf(entry),
      askedOf(entry),
      styleStatus(entry.status),
      ...(form.isKnown ? [summariseFills(entry), ending === null ? '–' : summariseEnding(ending)] : []),
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
