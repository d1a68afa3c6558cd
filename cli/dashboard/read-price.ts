import type { PriceDocument, ShownCandle, ShownLevel, ShownMark } from '../../dashboard/documents.ts';
import { readPositions } from '../../lib/account/read-positions.ts';
import { formatDecimal, zero } from '../../lib/base/decimal.ts';
import { RelayError } from '../../lib/base/errors.ts';
import { candles } from '../../lib/exchange/endpoints/candles.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import { listFills } from '../../lib/ledger/executions.ts';
import type { Account } from '../../lib/model/account.ts';
import type { OpenPosition } from '../../lib/model/holdings.ts';
import { type CandleInterval, candleIntervals, candleMinutes } from '../../lib/model/market-data.ts';
import { isMarkedReducing, type Order } from '../../lib/model/order.ts';
import { CommandFailure } from '../failure.ts';
import { listMatching } from '../read/read-entries.ts';
import { askExchange, timeoutMs } from '../session/exchange.ts';
import type { Session } from '../session/session.ts';
import { summariseSignal } from '../show/describe-signal.ts';

const candlesShown = 300;
/** More would hide the prices. */
const mostMarks = 400;

/** The candles of a market, with what the relay's accounts did and have there. What cannot be read is left out, and told. */
export async function readPrice(session: Session, market: string, wanted: string): Promise<PriceDocument> {
  const interval = candleIntervals.find((each) => each === wanted) ?? '15m';
  const nowMs = session.clock.nowMs();
  const fromMs = nowMs - candlesShown * candleMinutes[interval] * 60_000;
  const accounts = Object.values(session.settings.accounts).filter(({ markets }) =>
    Object.hasOwn(markets, market),
  );
  const missing: string[] = [];
  const orNone = async <T>(what: string, read: Promise<readonly T[]>): Promise<readonly T[]> => {
    try {
      return await read;
    } catch (error) {
      if (!(error instanceof RelayError || error instanceof CommandFailure)) throw error;
      missing.push(`${what}: ${error.message}`);
      return [];
    }
  };
  const [shown, ...marks] = await Promise.all([
    orNone('candles', readCandles(session, market, interval, fromMs)),
    ...accounts.map((account) => readMarks(session, account.name, market, fromMs)),
  ]);
  const levels = await Promise.all(
    accounts.map((account) => orNone(`orders of ${account.name}`, readLevels(session, account, market))),
  );
  const isOfSeveral = levels.filter((own) => own.length > 0).length > 1;
  return {
    market,
    interval,
    candles: shown,
    marks: marks
      .flat()
      .toSorted((a, b) => a.atMs - b.atMs)
      .slice(-mostMarks),
    levels: levels.flatMap((own, index) =>
      isOfSeveral ? own.map((level) => ({ ...level, text: `${accounts[index]?.name}: ${level.text}` })) : own,
    ),
    missing,
  };
}

async function readCandles(
  session: Session,
  market: string,
  interval: CandleInterval,
  fromMs: number,
): Promise<readonly ShownCandle[]> {
  const start = Math.floor(fromMs / 1000);
  const read = await askExchange(session, null, (client) =>
    client.call(candles, { market, interval, start, limit: candlesShown }, { timeoutMs }),
  );
  return read.map(({ beginsAtMs, open, high, low, close }) => ({
    time: beginsAtMs / 1000,
    open: formatDecimal(open),
    high: formatDecimal(high),
    low: formatDecimal(low),
    close: formatDecimal(close),
  }));
}

async function readMarks(
  session: Session,
  account: string,
  market: string,
  fromMs: number,
): Promise<readonly ShownMark[]> {
  const marks: ShownMark[] = [];
  const ledger = session.openLedger();
  const matches = ({ signal }: { readonly signal: { readonly market: string } | null }) =>
    signal?.market === market;
  for await (const { signal, signalId, status, createdAtMs } of listMatching(ledger, {
    account,
    fromMs,
    matches,
  })) {
    if (signal === null) continue;
    const side = signal.action === 'order' ? signal.side : null;
    const text = `${status}: ${summariseSignal(signal)}`;
    marks.push({ atMs: createdAtMs, kind: 'signal', side, text, price: null, signalId, account });
    if (marks.length > 2 * mostMarks) marks.shift();
  }
  for await (const fill of listFills(session.openExecutions(), account, fromMs, Number.MAX_SAFE_INTEGER)) {
    if (fill.market !== market) continue;
    const { atMs, side, amount, price, role, signalId } = fill;
    const what = role === 'order' || role === 'other' ? side : role.replace('_', '-');
    marks.push({ atMs, kind: 'fill', side, text: `${what} ${amount} at ${price}`, price, signalId, account });
  }
  return marks;
}

async function readLevels(
  session: Session,
  account: Account,
  market: string,
): Promise<readonly ShownLevel[]> {
  if (session.locateExchange().dialect !== 'live') return [];
  return await askExchange(session, account, async (client) => {
    const { orders } = await listOpenOrders(client, market, { timeoutMs });
    const hasPositions = account.markets[market]?.tradesOn !== 'spot';
    const held = hasPositions
      ? (await readPositions({ client, clock: session.clock, limits: { timeoutMs } })).positions
      : [];
    const here = held.filter((position) => position.market === market);
    const isReducing = (order: Order) =>
      hasPositions ? reducesOne(here, order) : order.activationPrice !== undefined && order.side === 'sell';
    return [
      ...orders.map((order) => levelOf(order, isReducing(order))),
      ...here.flatMap(({ amount, basePrice }): readonly ShownLevel[] => {
        if (basePrice === null) return [];
        const text = `position ${formatDecimal(amount)}`;
        return [{ kind: 'position', price: formatDecimal(basePrice), text }];
      }),
    ];
  });
}

/** Whether the order reduces one of these positions of its market, by what it says itself or by its side. */
function reducesOne(positions: readonly Pick<OpenPosition, 'amount'>[], order: Order): boolean {
  if (isMarkedReducing(order)) return true;
  // In hedge mode the order says which position it is for.
  if (order.positionSide === 'LONG' || order.positionSide === 'SHORT') return false;
  return positions.some(({ amount }) => (order.side === 'sell' ? amount.gt(zero) : amount.lt(zero)));
}

/** An order that opens a position is just an order, with a trigger, too: only what ends one is a stop or a target. */
function levelOf({ side, remaining, price, activationPrice }: Order, isReducing: boolean): ShownLevel {
  const exit = activationPrice === undefined ? 'target' : 'stop';
  const kind = isReducing ? exit : 'order';
  const text = `${levelNames[kind]} ${side} ${formatDecimal(remaining)}`;
  return { kind, price: formatDecimal(activationPrice ?? price), text };
}

const levelNames = { order: 'order', stop: 'stop-loss', target: 'take-profit' } as const;
