import { type Decimal, zero } from '../base/decimal.ts';
import { oppositeOf } from '../model/order.ts';
import { clearExits } from './clear-exits.ts';
import { endSent, type Opened } from './end-sent.ts';
import { readRest } from './read-rest.ts';
import type { SentOrder } from './rehearsal-book.ts';
import { type AskedOrder, sendOrder } from './send-order.ts';
import type { Stage } from './stage.ts';

/** An order that closes may fill in part. */
const mostRounds = 4;

/**
 * Removes what the rehearsal has left in the market of the stage: its orders, what they opened, and the exits that the
 * exchange made of them. It touches nothing else, and closes no more than its own orders have opened.
 *
 * @returns what is left, as the subject of a sentence; null: nothing
 * @throws ExchangeError when the exchange cannot be asked: what was written down stays so, and the next run cleans up
 */
export async function cleanUp(stage: Stage): Promise<string | null> {
  for (let round = 0; round < mostRounds; round += 1) {
    const sent = stage.book.notes.sent.filter(({ market }) => market === stage.market.name);
    if (sent.length === 0) return null;
    const opened = await endAll(stage, sent);
    if (opened === null)
      return `an order that no list tells (one of ${sent.map(({ clientOrderId }) => clientOrderId).join(', ')})`;
    const rest = await readRest(stage, sent, opened);
    if (rest.kind === 'strange') return rest.left;
    if (rest.kind === 'none') {
      if (opened.hasFilled) await clearExits(stage, sent);
      await stage.book.forget(sent);
      return null;
    }
    // A refusal is looked at again, too: an exit may have closed it meanwhile.
    await sendOrder(stage, '6', closingOrder(stage, rest.amount, sent));
  }
  return `a position in ${stage.market.name}`;
}

/** @returns null when the lists do not tell what became of one of them */
async function endAll(stage: Stage, sent: readonly SentOrder[]): Promise<Opened | null> {
  let net = zero;
  let hasFilled = false;
  const orderIds = new Set<number>();
  for (const one of sent) {
    const ended = await endSent(stage, one);
    if (ended === null) return null;
    if (ended.orderId !== null) orderIds.add(ended.orderId);
    if (ended.filled.gt(zero)) hasFilled = true;
    net = one.side === 'buy' ? net.plus(ended.filled) : net.minus(ended.filled);
  }
  return { net, orderIds, hasFilled };
}

/** @param amount of the position: above zero for a long one */
function closingOrder(
  { ground }: Pick<Stage, 'ground'>,
  amount: Decimal,
  sent: readonly SentOrder[],
): AskedOrder {
  const isLong = amount.gt(zero);
  const side = oppositeOf(isLong ? 'buy' : 'sell');
  if (ground === 'spot') return { type: 'spot_stock_market', side, amount: amount.abs() };
  const isHedged = sent.some(({ positionSide }) => positionSide !== undefined);
  return {
    type: 'market',
    side,
    amount: amount.abs(),
    reduceOnly: true,
    ...(isHedged ? { positionSide: isLong ? 'LONG' : 'SHORT' } : {}),
  };
}
