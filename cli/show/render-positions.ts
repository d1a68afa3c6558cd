import type { KnownExit } from '../../lib/account/find-protection.ts';
import { type Decimal, formatDecimal, zero } from '../../lib/base/decimal.ts';
import type { OpenPosition } from '../../lib/model/holdings.ts';
import { currenciesInName } from '../../lib/model/market.ts';
import type { ExitRole } from '../../lib/model/signal.ts';
import type { GuardState, PositionProtection, ShownGuard } from '../read/read-guards.ts';
import { type Cell, formatAmount } from './print.ts';
import { naturalWidth, renderStacked } from './stacked-table.ts';
import { renderOneLineRows } from './table.ts';
import type { Screen } from './terminal.ts';

/** An open position, and what this relay knows of it. */
export interface ShownPosition {
  readonly position: OpenPosition;
  /** Of its market; null when it could not be read. */
  readonly lastPrice: Decimal | null;
  readonly stops: readonly KnownExit[];
  readonly targets: readonly KnownExit[];
  /** Whether a stop-loss was asked for, and the relay is still to read it. */
  readonly isStopAwaited: boolean;
  /** Empty when none is known. */
  readonly strategies: readonly string[];
  /** What the relay keeps for it, beside what stands; null where it keeps nothing, and when the exchange was not read. */
  readonly protection: PositionProtection | null;
}

const right = { align: 'right' } as const;
const firstLine = [
  { title: 'market' },
  { title: 'side' },
  { title: 'amount', ...right },
  { title: 'entry price', ...right },
  { title: 'last price', ...right },
  { title: 'profit', ...right },
];
const liquidation = { title: 'liquidated at', ...right };
const stop = { title: 'stop' };
const target = { title: 'target' };
const strategy = { title: 'strategy' };

/**
 * A table of positions, with one line or two a position; a danger is a line of its own below its position. What does not fit
 * two lines goes on below them: nothing is cut.
 */
export function renderPositions(positions: readonly ShownPosition[], screen: Screen): string {
  const rows = positions.map((shown) => ({
    cells: cellsOf(shown),
    note: describeDanger(shown.position),
  }));
  const columns = [...firstLine, liquidation, stop, target, strategy];
  const whole = renderOneLineRows(columns, rows, screen);
  if (whole !== null) return whole;
  const withLiquidation = firstLine.length + 1;
  const cells = rows.map((row) => row.cells);
  const isWide = naturalWidth(columns.slice(0, withLiquidation), cells) > (screen.width ?? 0);
  const inFirst = isWide ? firstLine.length : withLiquidation;
  return renderStacked(
    columns.slice(0, inFirst),
    columns.slice(inFirst).map((column) => ({ ...column, wraps: true })),
    rows.map(({ cells, note }) => ({
      first: cells.slice(0, inFirst),
      second: cells.slice(inFirst),
      warning: note === null ? null : { text: note, style: 'alarm' as const },
    })),
    screen,
  );
}

function cellsOf(shown: ShownPosition): readonly Cell[] {
  const { position, lastPrice, strategies } = shown;
  return [
    position.market,
    position.amount.gt(zero) ? 'long' : 'short',
    formatDecimal(position.amount.abs()),
    formatAmount(position.basePrice),
    formatAmount(lastPrice),
    describeProfit(position),
    formatAmount(position.liquidationPrice),
    describeStops(shown),
    describeTargets(shown),
    strategies.join(', ') || '–',
  ];
}

function describeProfit({ floatingProfit, market }: OpenPosition): Cell {
  if (floatingProfit === null) return '–';
  const sign = floatingProfit.gt(zero) ? '+' : '';
  const text = `${sign}${formatDecimal(floatingProfit.round(2))} ${currenciesInName(market).quote}`;
  if (floatingProfit.eq(zero)) return text;
  return { text, style: floatingProfit.gt(zero) ? 'good' : 'bad' };
}

/** The words of a cell of stops, which notes below the table explain. */
export const stopWords = {
  awaited: 'being read',
  none: 'none known',
  unsettled: 'of unknown outcome',
} as const;

/** What should stand beside what does; the open stops; that one is being read; or that the relay knows of none. */
export function describeStops(shown: ShownPosition): Cell {
  const { position, stops, isStopAwaited } = shown;
  const kept = describeGuards(shown, 'stop_loss');
  if (kept !== null) return kept;
  const texts = describeExits(position, stops);
  const rest = isStopAwaited ? unprotectedBy(shown) : zero;
  if (texts !== '') return rest.gt(zero) ? `${texts}, ${formatAmount(rest)} ${stopWords.awaited}` : texts;
  return isStopAwaited
    ? { text: stopWords.awaited, style: 'waiting' }
    : { text: stopWords.none, style: 'bad' };
}

/** How much of a position the stops do not protect that the ledger knows; one of an unknown amount may protect all of it. */
function unprotectedBy({ position, stops }: ShownPosition): Decimal {
  const whole = position.amount.abs();
  return stops.reduce((rest, { amount }) => rest.minus(amount ?? whole), whole);
}

function describeTargets(shown: ShownPosition): Cell {
  const { position, targets } = shown;
  return describeGuards(shown, 'take_profit') ?? (describeExits(position, targets) || '–');
}

const stateWords: Readonly<Record<GuardState, string>> = {
  standing: '',
  missing: ' MISSING',
  changing: ' changing',
  ended: ' ended by hand',
  unread: ' not known yet',
  by_hand: '',
};

/**
 * `49000`, `49000 (trails 1.5%)`, `49000 for 0.01 MISSING`, `49000, 0.02 by hand`; null where nothing is kept and nothing stands, and while it is
 * of nothing known what does: then what the ledger knows is shown.
 */
function describeGuards(
  { position: { amount: held }, protection, isStopAwaited }: ShownPosition,
  role: ExitRole,
): Cell | null {
  const words = { ...stateWords, ...(isStopAwaited ? { unread: ` ${stopWords.awaited}` } : {}) };
  const guards = (protection?.guards ?? []).filter((guard) => guard.role === role);
  if (guards.length > 0 && guards.every(({ state }) => state === 'unread')) return null;
  const byHand = role === 'stop_loss' ? (protection?.byHand ?? zero) : zero;
  const shown = guards
    .filter(({ state }) => state !== 'by_hand')
    .flatMap((guard) =>
      pricesOf(guard).map(({ price, amount }) => ({
        price: `${formatAmount(price)}${guard.trailing === undefined ? '' : ` (trails ${guard.trailing})`}`,
        part:
          amount === null || amount.gte(held.abs()) || amount.eq(zero) ? '' : ` for ${formatAmount(amount)}`,
        word: guard.amount.eq(zero) && guard.state === 'changing' ? ' being cancelled' : words[guard.state],
        state: guard.state,
      })),
    );
  const whose = protection?.unsettled == null ? 'by hand' : stopWords.unsettled;
  const hand = byHand.gt(zero) ? [`${formatAmount(byHand)} ${whose}`] : [];
  if (shown.length === 0 && hand.length === 0) return null;
  const parts = new Set(shown.map(({ part, word }) => `${part}${word}`));
  const [first = ''] = parts;
  const each =
    shown.length > 1 && parts.size === 1 && first !== ''
      ? [`${countPrices(shown)}${first} each`]
      : shown.map(({ price, part, word }) => `${price}${part}${word}`);
  const text = [...each, ...hand].join(', ');
  return shown.some(({ state }) => state === 'missing') ? { text, style: 'bad' } : text;
}

interface PricedPart {
  readonly price: Decimal | null;
  /** In base units; null: the whole position. */
  readonly amount: Decimal | null;
}

/** What stands, where it fits; otherwise what is wanted, which was never rounded to a price and an amount of the market. */
function pricesOf({ state, standing, price, amount }: ShownGuard): readonly PricedPart[] {
  if (state === 'standing') return sumByPrice(standing);
  const wanted = price ?? standing[0]?.price ?? null;
  return [{ price: wanted?.round(mostPlaces) ?? null, amount: amount.round(mostPlaces) }];
}

/** As many as any market has. */
const mostPlaces = 8;

/** The exchange may have made an order for each fill of an entry, most of them at one price. */
function sumByPrice(standing: ShownGuard['standing']): readonly PricedPart[] {
  const sums = new Map<string, PricedPart>();
  for (const { price, amount } of standing) {
    const before = sums.get(formatAmount(price));
    const sum = before === undefined || amount === null ? amount : (before.amount?.plus(amount) ?? null);
    sums.set(formatAmount(price), { price, amount: sum });
  }
  return [...sums.values()];
}

/** `49000`, `49000 for 0.01` or `49000, 48000 for 0.01 each`; empty for none. */
function describeExits({ amount }: OpenPosition, exits: readonly KnownExit[]): string {
  const shown = exits.map((exit) => ({
    price: exit.price === null ? 'at a price that is not known' : formatDecimal(exit.price),
    part: exit.amount === null || exit.amount.gte(amount.abs()) ? '' : ` for ${formatAmount(exit.amount)}`,
  }));
  const parts = new Set(shown.map(({ part }) => part));
  const [first = ''] = parts;
  if (shown.length > 1 && parts.size === 1 && first !== '') return `${countPrices(shown)}${first} each`;
  return shown.map(({ price, part }) => `${price}${part}`).join(', ');
}

/** `49000, 48000`, or `3 at 49000` where several have one price. */
function countPrices(shown: readonly { readonly price: string }[]): string {
  return [...Map.groupBy(shown, ({ price }) => price)]
    .map(([price, { length }]) => (length === 1 ? price : `${length} at ${price}`))
    .join(', ');
}

function describeDanger({ liquidationState }: OpenPosition): string | null {
  switch (liquidationState) {
    case null:
      return null;
    case 'margin_call':
      return 'MARGIN CALL: add collateral or reduce the position, or the exchange liquidates it';
    case 'liquidation':
      return 'LIQUIDATION: the exchange is closing this position';
    default:
      return `the exchange reports the state "${liquidationState}"`;
  }
}
