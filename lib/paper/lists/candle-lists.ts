import { formatDecimal } from '../../base/decimal.ts';
import { candles } from '../../exchange/endpoints/candles.ts';
import { candleIntervals, candleMinutes } from '../../model/market-data.ts';
import { candlesOf } from '../engine/candles.ts';
import {
  createReadRoute,
  type Reply,
  type RequestContext,
  type Route,
  refuse,
  serveChecked,
  succeed,
} from '../requests/request-context.ts';
import { checkNamedMarket, type FieldReader } from '../requests/validation.ts';

const mostCandles = 1440;

/** @see https://docs.whitebit.com/api-reference/market-data/kline */
export const candleLists: readonly Route[] = [createReadRoute(candles, serveCandles)];

function serveCandles({ read, trading, atMs }: RequestContext): Reply {
  return serveChecked(checkNamedMarket(read), ({ name }) => {
    const interval = candleIntervals.find((each) => each === (read('interval') ?? '1h'));
    if (interval === undefined) return refuse('candle_interval_invalid');
    const rows = candlesOf(trading.state, name, {
      minutes: candleMinutes[interval],
      fromMs: secondsOf(read, 'start', 0) * 1000,
      untilMs: secondsOf(read, 'end', atMs / 1000) * 1000,
      limit: Math.min(secondsOf(read, 'limit', mostCandles), mostCandles),
    });
    const result = rows.map(({ minute, open, close, high, low, baseVolume, quoteVolume }) => [
      minute * 60,
      ...[open, close, high, low, baseVolume, quoteVolume].map(formatDecimal),
    ]);
    return succeed({ success: true, message: null, result });
  });
}

/** A parameter of a query is a text; what is no number counts as absent. */
function secondsOf(read: FieldReader, name: string, ifAbsent: number): number {
  const value = read(name);
  return typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : ifAbsent;
}
