import { createSeriesMarkers, LineSeries, type SeriesMarker, type Time } from 'lightweight-charts';
import type { ShownFill } from '../documents.ts';
import { onColoursChange, readColours } from './chart-colours.ts';
import { arrowOf, openChart, paintChart, timeOf } from './price-chart.ts';

export interface Line {
  readonly name: string;
  readonly points: readonly { readonly atMs: number; readonly value: number }[];
  readonly marks: readonly Pick<ShownFill, 'atMs' | 'side'>[];
}

/** Draws one line of values over time. @returns what shows another line, and what removes the chart */
export function drawLine(place: HTMLElement): { show(line: Line): void; remove(): void } {
  const chart = openChart(place);
  const series = chart.addSeries(LineSeries, { lineWidth: 2, priceLineVisible: false });
  const markers = createSeriesMarkers<Time>(series, []);
  let shown: Line | null = null;
  function paint(): void {
    paintChart(chart);
    series.applyOptions({ color: readColours().accent });
    if (shown !== null) markers.setMarkers(marksOn(shown));
  }
  paint();
  const end = onColoursChange(paint);
  return {
    show(line) {
      const { name, points } = line;
      shown = line;
      series.applyOptions({ title: name });
      series.setData(points.map(({ atMs, value }) => ({ time: timeOf(Math.floor(atMs / 1000)), value })));
      markers.setMarkers(marksOn(line));
      chart.timeScale().fitContent();
    },
    remove() {
      end();
      chart.remove();
    },
  };
}

/** A fill stands at the snapshot before it. One arrow stands for all fills of a side there: more would hide the line. */
function marksOn({ points, marks }: Line): SeriesMarker<Time>[] {
  const drawn = new Map<string, SeriesMarker<Time>>();
  for (const { atMs, side } of marks) {
    const point = points.findLast((each) => each.atMs <= atMs);
    if (point !== undefined) drawn.set(`${side} ${point.atMs}`, arrowOf(side, Math.floor(point.atMs / 1000)));
  }
  return [...drawn.values()].toSorted((a, b) => Number(a.time) - Number(b.time));
}
