import { tradingGrounds } from '../../lib/model/account.ts';
import { orderKindNames } from '../../lib/model/order.ts';
import { statuses } from '../../lib/model/outcome.ts';
import type { TimelineRow } from './history.ts';
import { type Harm, invariants } from './invariants.ts';
import type { Hunt } from './mutants.ts';
import { startMs } from './simulate.ts';
import type { Finding, Range, Tally } from './tally.ts';

const number = new Intl.NumberFormat('en-US');

/** The command that repeats one run. */
export function reproOf({ signals, mutant, kind }: Range, { seed, dialect }: Finding): string {
  const mutation = mutant === null ? '' : ` --mutant ${mutant}`;
  const orders = kind === null ? '' : ` --kind ${kind}`;
  return `npm run simulate -- --seeds ${seed}..${seed} --signals ${signals} --dialect ${dialect}${orders}${mutation}`;
}

/** A run, line by line: virtual seconds since its start, actor, action, and injected fault. */
export function renderTimeline(rows: readonly TimelineRow[]): string {
  return rows
    .map(({ atMs, actor, what, fault }) => {
      const seconds = ((atMs - startMs) / 1000).toFixed(3).padStart(9);
      return `${seconds}  ${actor.padEnd(34)} ${what}${fault === null ? '' : `   ◀ ${fault}`}`;
    })
    .join('\n');
}

export function renderSummary({ fromSeed, toSeed, dialects, signals, kind }: Range, tally: Tally): string {
  const orders = kind === null ? '' : `, every order a ${kind}`;
  return [
    `seeds ${fromSeed}..${toSeed}, ${dialects.join(' and ')}, ${signals} signals or more each${orders}: ${number.format(tally.runs)} runs`,
    `${number.format(tally.alertsSent)} alerts sent, ${number.format(tally.acknowledged)} acknowledged, ${number.format(tally.orders)} orders accepted by the exchange, ${number.format(tally.protective)} of them to protect positions`,
    `kinds     ${renderShares(orderKindNames, tally.kinds)}`,
    `markets   ${renderShares(tradingGrounds, tally.grounds)}`,
    `outcomes  ${renderStatuses(tally)}`,
    `injected  ${renderFaults(tally)}`,
    renderHarm(tally.findings),
    ...renderOthers(tally.findings),
  ].join('\n');
}

/** The share of each name in all counted orders. */
function renderShares<Name extends string>(
  names: readonly Name[],
  counts: ReadonlyMap<Name, number>,
): string {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const share = (name: Name) => ((100 * (counts.get(name) ?? 0)) / Math.max(1, total)).toFixed(1);
  return names.map((name) => `${name} ${share(name)} %`).join(' · ');
}

function renderStatuses({ statuses: counts }: Tally): string {
  return statuses
    .flatMap((status) => (counts.has(status) ? [`${status} ${number.format(counts.get(status) ?? 0)}`] : []))
    .join(' · ');
}

function renderFaults({ faults }: Tally): string {
  const sorted = [...faults].sort(([a], [b]) => (a < b ? -1 : 1));
  const byKind = Map.groupBy(sorted, ([fault]) => fault.split(':')[0] ?? '');
  return [...byKind]
    .map(
      ([kind, rows]) =>
        `${kind}: ${rows.map(([fault, n]) => `${nameOf(fault)} ${number.format(n)}`).join(', ')}`,
    )
    .join('\n          ');
}

function nameOf(fault: string): string {
  return fault.split(': ')[1] ?? fault;
}

function renderHarm(findings: readonly Finding[]): string {
  const count = (harm: Harm) => findings.filter((finding) => finding.harm === harm).length;
  return `${count('lost')} lost, ${count('duplicated')} duplicated, ${count('silent')} silent, ${count('other')} other violations`;
}

function renderOthers(findings: readonly Finding[]): readonly string[] {
  return [...Map.groupBy(findings, ({ invariant }) => invariant)].map(
    ([invariant, found]) => `  ${invariant} ${invariants[invariant]}: broken ${found.length} times`,
  );
}

/** A Markdown table of all mutants: what each one breaks, and how it was caught. */
export function renderMutants(rows: readonly (Hunt & { readonly tally: Tally })[]): string {
  return [
    '| mutant | what it breaks | caught at seed | looked for in seeds | caught by |',
    '| --- | --- | --- | --- | --- |',
    ...rows.map(({ mutant, job, tally }) => {
      const [first] = tally.findings;
      const names = [...new Set(tally.findings.map(({ invariant }) => invariant))].sort().join(', ');
      const { fromSeed, toSeed } = job.range;
      const caught = first === undefined ? 'survived' : String(first.seed);
      return `| ${mutant.name} | ${mutant.breaks} | ${caught} | ${fromSeed}..${toSeed} | ${names} |`;
    }),
  ].join('\n');
}
