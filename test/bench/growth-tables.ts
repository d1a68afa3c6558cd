import { type Cost, type GrowthFigures, ledgerSizes } from './growth.ts';
import { formatNumber, formatRatios, ratioOf, spreadOf } from './statistics.ts';
import type { Table } from './table.ts';
import { fewWaiting, manyWaiting, type WaitingFigures } from './waiting.ts';

const sizeNames = ledgerSizes.map((size) => `${formatNumber(size, 0)} signals`);

export function tabulateGrowth(growth: readonly GrowthFigures[]): Table {
  return {
    name: 'growth',
    title: 'Growth: median CPU time, and the time it took, by the number of signals in the ledger',
    head: ['operation', ...sizeNames],
    rows: growth.map(({ operation, costs }) => [
      operation,
      ...ledgerSizes.map((size) => describeCosts(costs.get(size) ?? [])),
    ]),
  };
}

/** `1.25 ms in 3.10 ms` */
function describeCosts(costs: readonly Cost[]): string {
  const medianOf = (key: keyof Cost) => formatNumber(spreadOf(costs.map((cost) => cost[key])).median, 2);
  return `${medianOf('cpuMs')} ms in ${medianOf('tookMs')} ms`;
}

export function tabulateWaiting(waiting: readonly WaitingFigures[]): Table {
  return {
    name: 'waiting',
    title: 'Waiting signals: CPU time of each, from the post to its outcome',
    head: ['signals wait', '10 at once', '10,000 at once', '10,000 to 10'],
    rows: waiting.map(({ what, cpuMs }) => {
      const [few, many] = [cpuMs.get(fewWaiting) ?? [], cpuMs.get(manyWaiting) ?? []];
      const written = (values: readonly number[]) => `${formatNumber(spreadOf(values).median, 2)} ms`;
      return [what, written(few), written(many), formatRatios(ratioOf(many, few))];
    }),
  };
}
