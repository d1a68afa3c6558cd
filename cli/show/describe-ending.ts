import { formatDecimal, zero } from '../../lib/base/decimal.ts';
import { protectionNamedBy } from '../../lib/model/protect-id.ts';
import type { EndingState } from '../../lib/reports/entry-ending.ts';
import { formatProfit } from '../../lib/reports/format-profit.ts';
import type { ToldEnding } from '../../lib/reports/read-endings.ts';
import type { Cell, Style } from './print.ts';
import { shortenId } from './short-id.ts';

interface Words {
  /** In a list. */
  readonly short: string;
  /** A sentence without its end; absent: the short words. */
  readonly long?: string;
  readonly style: Style;
}

const words: Readonly<Record<EndingState, Words>> = {
  unread: { short: 'placed', long: 'not known yet: nothing has been read of the order', style: 'good' },
  waiting: { short: 'waiting', long: 'the order waits: nothing is filled yet', style: 'waiting' },
  filling: { short: 'filled in part', long: 'the order is open, and filled in part', style: 'waiting' },
  open: { short: 'open', long: 'open, as far as the relay knows', style: 'waiting' },
  stopped_out: { short: 'stopped out', style: 'good' },
  target: { short: 'target', long: 'closed at its target', style: 'good' },
  closed: { short: 'closed', style: 'good' },
  closed_elsewhere: {
    short: 'closed, not by relay',
    long: 'closed by something else than this relay: what it made is not known',
    style: 'waiting',
  },
  uncertain: {
    short: 'filled, rest unknown',
    long: 'filled; what became of the position is not known',
    style: 'waiting',
  },
  reduced: { short: 'reduced', long: 'closed what other signals had opened', style: 'good' },
  cancelled: { short: 'cancelled', style: 'good' },
  unfilled: {
    short: 'not filled',
    long: 'the exchange ended the order at once, without a fill',
    style: 'bad',
  },
  gone: { short: 'ended, unknown how', long: 'not open, and no list says how it ended', style: 'waiting' },
};

/** Those whose profit is missing although something was closed. */
const closings: ReadonlySet<EndingState> = new Set(['stopped_out', 'target', 'closed', 'reduced']);

/** How an order ended, in a few words: `stopped out -12.10`. */
export function summariseEnding(ending: ToldEnding): Cell {
  const { state, profit } = ending;
  const { short, style } = words[state];
  if (state === 'cancelled')
    return { text: `${short}${describeCanceller(ending, isOfRelay(ending) ? 'relay' : 'alert')}`, style };
  if (profit === null) return { text: closings.has(state) ? `${short}, profit unknown` : short, style };
  const text = state === 'open' ? `open, closed ${formatProfit(profit)}` : `${short} ${formatProfit(profit)}`;
  return { text, style: profit.lt(zero) ? 'bad' : style };
}

function describeCanceller({ reason, cancelledBy }: ToldEnding, alert: string): string {
  if (reason !== null) return ` (${reason})`;
  if (cancelledBy === undefined) return '';
  return cancelledBy === null ? ' by hand' : ` by ${alert}`;
}

/** Whether a signal that the relay itself stored to keep a protection has cancelled it. */
function isOfRelay({ cancelledBy }: ToldEnding): boolean {
  return typeof cancelledBy === 'string' && protectionNamedBy(cancelledBy) !== null;
}

/** How an order ended, in a sentence: with the currency of the profit, and what it leaves out. */
export function describeEnding(ending: ToldEnding): Cell {
  const { state, profit, quote, left, unvaluedFees } = ending;
  const { short, long = short, style } = words[state];
  if (state === 'cancelled') {
    const { cancelledBy } = ending;
    const whose = isOfRelay(ending) ? 'the relay itself, with signal' : 'signal';
    const name = cancelledBy == null ? '' : `${whose} ${shortenId(cancelledBy)}`;
    return { text: `${short}${describeCanceller(ending, name)}`, style };
  }
  if (profit === null) {
    const unknown = 'what it made is not known, because no stored fill says what it had cost';
    return { text: closings.has(state) ? `${long}; ${unknown}` : long, style };
  }
  const fees =
    unvaluedFees.length === 0 ? 'after fees' : `after fees, except those in ${unvaluedFees.join(', ')}`;
  const made = `${formatProfit(profit)} ${quote} ${fees}`;
  const text =
    state === 'open'
      ? `closed in part: ${made}; ${left === null ? 'the rest' : formatDecimal(left)} is open`
      : `${long}: ${made}`;
  return { text, style: profit.lt(zero) ? 'bad' : style };
}
