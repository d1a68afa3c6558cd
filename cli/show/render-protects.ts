import type { Entry } from '../../lib/ledger/entry.ts';
import type { ToldEnding } from '../../lib/reports/read-endings.ts';
import { summariseEnding } from './describe-ending.ts';
import { type Cell, paint } from './print.ts';
import { styleStatus } from './render-signals.ts';
import { renderRows } from './table.ts';
import type { Screen } from './terminal.ts';
import { formatLocal, nameOffset } from './time-zone.ts';

const roleNames = { stop_loss: 'stop-loss', take_profit: 'take-profit' };

/** The signals that keep what a signal asked to protect a position with: a row each, and below it what was done. */
export function renderProtects(
  protects: readonly Entry[],
  endings: readonly (ToldEnding | null)[],
  { width, timeZone }: Screen,
): string {
  const [first] = protects;
  const zone = first === undefined ? '' : ` (${nameOffset(first.createdAtMs, timeZone)})`;
  return renderRows(
    [{ title: `time${zone}` }, { title: 'protection' }, { title: 'status' }, { title: 'signal' }],
    protects.map((entry, index) => ({
      cells: [
        formatLocal(entry.createdAtMs, timeZone).slice(0, -'.123'.length),
        nameOfProtect(entry),
        stateOf(entry, endings[index] ?? null),
        entry.signalId,
      ],
      note: entry.steps.at(-1)?.note ?? null,
    })),
    { width },
  );
}

/** Without those that found what another one had just placed. */
export function withoutRepeats<Ending>(
  orders: readonly Entry[],
  endings: readonly Ending[],
): readonly [readonly Entry[], readonly Ending[]] {
  const placed = new Set(orders.flatMap((one) => (one.status === 'placed' ? [nameOfProtect(one)] : [])));
  const isShown = (one: Entry) => one.status !== 'satisfied' || !placed.has(nameOfProtect(one));
  const isShownAt = orders.map(isShown);
  return [orders.filter(isShown), endings.filter((_, place) => isShownAt[place] === true)];
}

/** A heading, and what {@link renderProtects} shows. */
export function renderProtectsOf(
  protects: readonly Entry[],
  endings: readonly (ToldEnding | null)[],
  screen: Screen,
): readonly string[] {
  if (protects.length === 0) return [];
  return [
    '',
    paint({ text: 'What the relay did to keep its protection:', style: 'strong' }),
    renderProtects(protects, endings, screen),
  ];
}

/** `stop-loss`, `take-profit 2` */
export function nameOfProtect({ signal }: Entry): string {
  if (signal?.action !== 'protect') return '–';
  const turned = signal.turnedBy === undefined ? '' : ', what it turned';
  return `${roleNames[signal.role]}${signal.part === undefined ? '' : ` ${signal.part}`}${turned}`;
}

function stateOf({ status }: Entry, ending: ToldEnding | null): Cell {
  return ending === null || ending.state === 'unread' ? styleStatus(status) : summariseEnding(ending);
}
