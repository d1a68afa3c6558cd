import { formatDecimal, zero } from '../lib/base/decimal.ts';
import type { OpenPosition } from '../lib/model/holdings.ts';
import { currenciesInName } from '../lib/model/market.ts';
import type { KnownStop } from '../lib/relay/find-protection.ts';
import { type Cell, formatAmount } from './print.ts';
import { type Column, renderRows } from './table.ts';
import type { Screen } from './terminal.ts';

/** An open position, and the stop-loss orders of the relay that protect it. */
export interface ShownPosition {
  readonly position: OpenPosition;
  readonly stops: readonly KnownStop[];
}

const columns: readonly Column[] = [
  { title: 'market' },
  { title: 'side' },
  { title: 'amount', align: 'right' },
  { title: 'entry price', align: 'right' },
  { title: 'floating profit', align: 'right' },
  { title: 'liquidated at', align: 'right' },
  { title: 'stop' },
];

/** A table of positions; a danger is a line of its own below its position. */
export function renderPositions(positions: readonly ShownPosition[], screen: Screen): string {
  return renderRows(
    columns,
    positions.map(({ position, stops }) => ({
      cells: [
        position.market,
        position.amount.gt(zero) ? 'long' : 'short',
        formatDecimal(position.amount.abs()),
        formatAmount(position.basePrice),
        describeProfit(position),
        formatAmount(position.liquidationPrice),
        describeStops(position, stops),
      ],
      note: describeDanger(position),
    })),
    screen,
  );
}

function describeProfit({ floatingProfit, market }: OpenPosition): Cell {
  if (floatingProfit === null) return '–';
  const sign = floatingProfit.gt(zero) ? '+' : '';
  const text = `${sign}${formatDecimal(floatingProfit.round(2))} ${currenciesInName(market).quote}`;
  if (floatingProfit.eq(zero)) return text;
  return { text, style: floatingProfit.gt(zero) ? 'good' : 'bad' };
}

/** `49000`, `49000 for 0.01`, or that the relay knows of none. */
function describeStops({ amount }: OpenPosition, stops: readonly KnownStop[]): Cell {
  const texts = stops.map((stop) => {
    const price = stop.price === null ? 'at a price that is not known' : formatDecimal(stop.price);
    const isWhole = stop.amount === null || stop.amount.gte(amount.abs());
    return isWhole ? price : `${price} for ${formatAmount(stop.amount)}`;
  });
  return texts.length === 0 ? { text: 'none known', style: 'bad' } : texts.join(', ');
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
