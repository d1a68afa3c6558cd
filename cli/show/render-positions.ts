import type { KnownExit } from '../../lib/account/find-protection.ts';
import { type Decimal, formatDecimal, zero } from '../../lib/base/decimal.ts';
import type { OpenPosition } from '../../lib/model/holdings.ts';
import { currenciesInName } from '../../lib/model/market.ts';
import { type Cell, formatAmount } from './print.ts';
import { renderStacked } from './stacked-table.ts';
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

/** A table of positions, with one line or two a position; a danger is a line of its own below its position. */
export function renderPositions(positions: readonly ShownPosition[], screen: Screen): string {
  const rows = positions.map((shown) => ({
    cells: cellsOf(shown),
    note: describeDanger(shown.position),
  }));
  const whole = renderOneLineRows([...firstLine, liquidation, stop, target, strategy], rows, screen);
  if (whole !== null) return whole;
  const [liquidated, ...exits] = [liquidation, stop, target, strategy];
  return renderStacked(
    firstLine,
    [...exits.map((column) => ({ ...column, cuts: column === strategy || column === target })), liquidated],
    rows.map(({ cells, note }) => {
      const [liquidatedAt = '', ...others] = cells.slice(firstLine.length);
      return {
        first: cells.slice(0, firstLine.length),
        second: [...others, liquidatedAt],
        warning: note === null ? null : { text: note, style: 'alarm' as const },
      };
    }),
    screen,
  );
}

function cellsOf(shown: ShownPosition): readonly Cell[] {
  const { position, lastPrice, targets, strategies } = shown;
  return [
    position.market,
    position.amount.gt(zero) ? 'long' : 'short',
    formatDecimal(position.amount.abs()),
    formatAmount(position.basePrice),
    formatAmount(lastPrice),
    describeProfit(position),
    formatAmount(position.liquidationPrice),
    describeStops(shown),
    describeExits(position, targets) || '–',
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

/** The open stops; that one is being read; or that the relay knows of none. */
function describeStops({ position, stops, isStopAwaited }: ShownPosition): Cell {
  const texts = describeExits(position, stops);
  if (texts !== '') return texts;
  return isStopAwaited ? { text: 'being read', style: 'waiting' } : { text: 'none known', style: 'bad' };
}

/** `49000` or `49000 for 0.01`; empty for none. */
function describeExits({ amount }: OpenPosition, exits: readonly KnownExit[]): string {
  const texts = exits.map((exit) => {
    const price = exit.price === null ? 'at a price that is not known' : formatDecimal(exit.price);
    const isWhole = exit.amount === null || exit.amount.gte(amount.abs());
    return isWhole ? price : `${price} for ${formatAmount(exit.amount)}`;
  });
  return texts.join(', ');
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
