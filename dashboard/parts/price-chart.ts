import {
  type AutoscaleInfo,
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  type IChartApi,
  LineStyle,
  type SeriesMarker,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts';
import type { PriceDocument, ShownLevel, ShownMark } from '../documents.ts';
import { readColours } from './chart-colours.ts';

/** The library is drawn on a canvas; the tables beside it say the same in words. */
export interface PriceChart {
  show(view: PriceDocument): void;
  /** Takes the colours of the style sheet anew. */
  recolour(): void;
  remove(): void;
}

/** Local time: the library knows UTC alone. */
export function timeOf(seconds: number): UTCTimestamp {
  return (seconds - new Date(seconds * 1000).getTimezoneOffset() * 60) as UTCTimestamp;
}

/** How a chart looks that stands on the page. The attribution stands beside it, as its licence asks. */
export function openChart(place: HTMLElement): IChartApi {
  return createChart(place, {
    autoSize: true,
    layout: {
      attributionLogo: false,
      background: { color: 'transparent' },
      fontFamily: 'system-ui, sans-serif',
      fontSize: 12,
    },
    timeScale: { timeVisible: true, secondsVisible: false, rightOffset: 4, maxBarSpacing: 24 },
    rightPriceScale: { borderVisible: false },
  });
}

export function paintChart(chart: IChartApi): void {
  const { text, line } = readColours();
  chart.applyOptions({
    layout: { textColor: text },
    grid: { vertLines: { color: line }, horzLines: { color: line } },
    timeScale: { borderColor: line },
  });
}

export function drawPriceChart(place: HTMLElement): PriceChart {
  const chart = openChart(place);
  let shown: PriceDocument | null = null;
  const series = chart.addSeries(CandlestickSeries, {
    // The library looks at the candles alone, and a stop beyond them would be out of the picture.
    autoscaleInfoProvider: (ofCandles: () => AutoscaleInfo | null) =>
      withLevels(ofCandles(), shown?.levels ?? []),
  });
  const markers = createSeriesMarkers<Time>(series, []);
  let lines: ReturnType<typeof series.createPriceLine>[] = [];
  let shownKey = '';

  function paint(): void {
    const { good, bad } = readColours();
    paintChart(chart);
    series.applyOptions({
      upColor: good,
      wickUpColor: good,
      downColor: bad,
      wickDownColor: bad,
      borderVisible: false,
    });
  }

  function show(view: PriceDocument): void {
    const key = `${view.market} ${view.interval}`;
    shown = view;
    const prices = view.candles.map(({ time, open, high, low, close }) => ({
      time: timeOf(time),
      open: Number(open),
      high: Number(high),
      low: Number(low),
      close: Number(close),
    }));
    const places = decimalsOf(view);
    series.applyOptions({ priceFormat: { type: 'price', precision: places, minMove: 10 ** -places } });
    series.setData(prices);
    markers.setMarkers(markersOf(view));
    for (const line of lines) series.removePriceLine(line);
    lines = view.levels.map((level) => series.createPriceLine(lineOf(level)));
    if (key !== shownKey) chart.timeScale().fitContent();
    shownKey = key;
  }

  paint();
  return {
    show,
    recolour() {
      paint();
      if (shown !== null) show(shown);
    },
    remove: () => chart.remove(),
  };
}

function withLevels(scale: AutoscaleInfo | null, levels: readonly ShownLevel[]): AutoscaleInfo | null {
  const range = scale?.priceRange ?? null;
  if (scale === null || range === null) return scale;
  const prices = levels.map(({ price }) => Number(price));
  const priceRange = {
    minValue: Math.min(range.minValue, ...prices),
    maxValue: Math.max(range.maxValue, ...prices),
  };
  return { ...scale, priceRange };
}

/** As many decimals as the prices have. */
function decimalsOf({ candles }: PriceDocument): number {
  const decimals = candles.slice(-20).map(({ close }) => close.split('.')[1]?.length ?? 0);
  return Math.min(8, Math.max(2, ...decimals));
}

const levelStyles = {
  order: ['accent', LineStyle.Dashed],
  stop: ['bad', LineStyle.Dashed],
  target: ['good', LineStyle.Dashed],
  position: ['waiting', LineStyle.Solid],
} as const;

function lineOf({ kind, price, text }: ShownLevel) {
  const [colour, lineStyle] = levelStyles[kind];
  return {
    price: Number(price),
    color: readColours()[colour],
    lineStyle,
    lineWidth: 1,
    title: text,
  } as const;
}

/** A mark belongs to the candle that it happened in. */
function markersOf({ candles, marks }: PriceDocument): SeriesMarker<Time>[] {
  const times = candles.map(({ time }) => time);
  const colours = readColours();
  const dotted = new Set<number>();
  return marks.flatMap((mark) => {
    const time = times.findLast((each) => each * 1000 <= mark.atMs);
    if (time === undefined) return [];
    // One dot stands for all alerts of a candle: more would hide the prices.
    if (mark.kind === 'signal' && dotted.has(time)) return [];
    if (mark.kind === 'signal') dotted.add(time);
    return [markerOf(mark, time, colours)];
  });
}

function markerOf(
  mark: ShownMark,
  time: number,
  colours: ReturnType<typeof readColours>,
): SeriesMarker<Time> {
  if (mark.kind === 'signal')
    return { time: timeOf(time), position: 'aboveBar', shape: 'circle', size: 0.6, color: colours.faint };
  return arrowOf(mark.side, time);
}

/** The arrow of a fill. */
export function arrowOf(side: ShownMark['side'], seconds: number): SeriesMarker<Time> {
  const { good, bad } = readColours();
  const isBuy = side === 'buy';
  return {
    time: timeOf(seconds),
    position: isBuy ? 'belowBar' : 'aboveBar',
    shape: isBuy ? 'arrowUp' : 'arrowDown',
    color: isBuy ? good : bad,
    size: 1.2,
  };
}
