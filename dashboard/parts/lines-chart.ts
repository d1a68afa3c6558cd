import { LineSeries, type UTCTimestamp } from 'lightweight-charts';
import { onColoursChange, readColours } from './chart-colours.ts';
import { openChart, paintChart } from './price-chart.ts';

export interface Line {
  readonly name: string;
  readonly points: readonly { readonly atMs: number; readonly value: number }[];
}

/** Draws one line of values over time. @returns what shows another line, and what removes the chart */
export function drawLine(place: HTMLElement): { show(line: Line): void; remove(): void } {
  const chart = openChart(place);
  const series = chart.addSeries(LineSeries, { lineWidth: 2, priceLineVisible: false });
  function paint(): void {
    paintChart(chart);
    series.applyOptions({ color: readColours().accent });
  }
  paint();
  const end = onColoursChange(paint);
  return {
    show({ name, points }) {
      series.applyOptions({ title: name });
      series.setData(
        points.map(({ atMs, value }) => {
          const seconds = Math.floor(atMs / 1000);
          const local = seconds - new Date(atMs).getTimezoneOffset() * 60;
          return { time: local as UTCTimestamp, value };
        }),
      );
      chart.timeScale().fitContent();
    },
    remove() {
      end();
      chart.remove();
    },
  };
}
