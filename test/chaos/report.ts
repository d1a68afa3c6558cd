import { isOrderEnd } from '../../lib/model/order.ts';
import { isFinal } from '../../lib/model/outcome.ts';
import type { OrderState } from '../../lib/paper/server/state.ts';
import { lostResponseOutcome } from '../../lib/relay/settle/settle-entry.ts';
import { findAlarmed } from './audit-outcomes.ts';
import { isProtective } from './audit-protection.ts';
import { hadResponse, type Violation } from './evidence.ts';
import type { Facts } from './facts.ts';
import { hangMs, type ShownNotice, type Trouble } from './notice-service.ts';
import type { Plan } from './plan.ts';
import { guardedAccount, tradingAccounts } from './relay-config.ts';
import type { ChaosRun } from './run.ts';
import type { SentAlert } from './sender.ts';

/** The most violations of one kind that are printed in detail. */
const mostShown = 10;

export function printPlan(plan: Plan, seed: number): void {
  const { alerts, killsAtMs, fullDisks, logLosses, weathers, durationMs } = plan;
  print(
    `Seed ${seed}: ${alerts.length} alerts in ${seconds(durationMs)} s, ${killsAtMs.length} kills, ${fullDisks.length} full disks, ${logLosses.length} lost log files, ${weathers.length} weathers at the exchange.`,
    'The seed fixes this plan; the timing of processes and disk differs from run to run.',
    '',
  );
}

export function printRun(run: ChaosRun, violations: readonly Violation[]): void {
  printSenders(run.facts.alerts);
  printFaults(run);
  printTroubles(run.troubles);
  printOutcomes(run.facts);
  printViolations(violations);
  const signals = countSignals(run.facts.alerts);
  printVerdict(violations);
  print(
    `${seconds(run.tookMs)} s, of which signals arrived for ${seconds(run.busyMs)} s: ${Math.round(signals / (run.busyMs / 1000))} signals/s`,
  );
}

/** Counts what went wrong, in one line. */
export function printVerdict(violations: readonly Violation[]): void {
  const count = (wrong: Violation['wrong']) =>
    violations.filter((violation) => violation.wrong === wrong).length;
  const others = violations.length - count('lost') - count('duplicated') - count('silent');
  print(
    `${count('lost')} lost, ${count('duplicated')} duplicated, ${count('silent')} silent; ${others} other violations`,
  );
}

export function printSenders(alerts: readonly SentAlert[]): void {
  const deliveries = alerts.flatMap((alert) => alert.deliveries);
  const responses = (hundreds: number) =>
    deliveries.filter(({ httpStatus }) => Math.floor((httpStatus ?? 0) / 100) === hundreds).length;
  const silent = deliveries.filter(({ httpStatus }) => httpStatus === null).length;
  const notAccepted = alerts.filter((alert) => !hadResponse(alert, 2) && !hadResponse(alert, 4)).length;
  row('signals', `${countSignals(alerts)} in ${alerts.length} alerts`);
  row('posted', `${deliveries.length} times, ${deliveries.length - alerts.length} of them resends`);
  row('responses', `${responses(2)} × 2xx, ${responses(4)} × 4xx, ${responses(5)} × 5xx, ${silent} × none`);
  row('alerts acknowledged', `${alerts.filter((alert) => hadResponse(alert, 2)).length}`);
  row('alerts not accepted', `${notAccepted}, as their senders know`);
}

function printFaults({ kills, starts, facts, fullDisks, logLosses, strikes }: ChaosRun): void {
  const { episodes, refusedWrites, obstacle } = fullDisks;
  row(
    'relay',
    `killed ${kills} times, started ${starts} times, failed to start ${facts.ownEnds.length} times`,
  );
  row(
    'full disk',
    obstacle === null
      ? `${episodes} times; ${refusedWrites} refused writes in the journal`
      : `skipped, because no small file system can be mounted here: ${obstacle}`,
  );
  row('log file', `moved or removed ${logLosses} times`);
  row(
    'faults struck',
    [...strikes]
      .map(([fault, struck]) => `${fault} ${struck}`)
      .sort()
      .join(', '),
  );
}

export function printTroubles(troubles: ReadonlyMap<Trouble, number>): void {
  row(
    'notice services',
    [...troubles]
      .map(([trouble, struck]) => `${trouble} ${struck}`)
      .sort()
      .join(', '),
  );
}

/** How long an alert waited for its acceptance, and how long while a service of the notices hung. */
function printPatience(alerts: readonly SentAlert[], shown: readonly ShownNotice[]): void {
  const hangs = shown.filter(({ trouble }) => trouble === 'hang');
  const isHung = (atMs: number) => hangs.some((hang) => atMs >= hang.atMs && atMs < hang.atMs + hangMs);
  const accepted = alerts
    .flatMap(({ deliveries }) => deliveries)
    .filter(({ httpStatus }) => httpStatus === 202);
  const [hung, others] = [true, false].map((is) =>
    accepted.filter(({ atMs }) => isHung(atMs) === is).map(({ tookMs }) => tookMs),
  );
  row('accepted within', `${describeMedian(others)}; while a notice service hung, ${describeMedian(hung)}`);
}

function describeMedian(timesMs: readonly number[] = []): string {
  const median = timesMs.toSorted((a, b) => a - b)[Math.floor(timesMs.length / 2)];
  return median === undefined ? 'none' : `${median.toFixed(1)} ms (median of ${timesMs.length})`;
}

export function printOutcomes(facts: Facts): void {
  const { entries, exchange, writings, followed, notices, alerts } = facts;
  if (notices !== null) {
    const { shown } = notices;
    const unsure = shown.filter(({ trouble }) => trouble !== null).length;
    row('notices', `${shown.length} messages taken, ${unsure} of them without an answer`);
    printPatience(alerts, shown);
  }
  const counts = [...Map.groupBy(entries, ({ status }) => status)].map(([status, { length }]) => ({
    status,
    length,
  }));
  counts.sort((a, b) => b.length - a.length);
  row('outcomes', counts.map(({ status, length }) => `${status} ${length}`).join(', '));
  row('orders created', `${exchange.acceptedCreates}`);
  printProtection({ entries, exchange });
  if (followed !== null) row('fills', `${followed.fills.length} in the ledger`);
  const unknown = entries.filter(({ steps }) => steps.some(({ status }) => status === 'unknown'));
  const settled = unknown.filter(({ status }) => isFinal(status)).length;
  const inFiles = findAlarmed(writings.filter(({ place }) => place !== 'journal')).size;
  const caught = entries.filter((entry) =>
    entry.steps.some(({ note }) => note === lostResponseOutcome(entry).note),
  );
  row('once unknown', `${unknown.length}, of which ${settled} were settled since`);
  row('killed while sending', `${caught.length} signals`);
  row('signals with alarms', `${findAlarmed(writings).size} in the journal, ${inFiles} in the log files`);
}

/** What the relay itself placed to protect positions, and how much of what protected one was triggered or filled. */
function printProtection({ entries, exchange }: Pick<Facts, 'entries' | 'exchange'>): void {
  const account = tradingAccounts[guardedAccount];
  const own = new Set(entries.filter(isProtective).map(({ clientOrderId }) => clientOrderId));
  const ofAccount = exchange.orders.filter((order) => order.account === account);
  const placed = ofAccount.filter(({ clientOrderId }) => own.has(clientOrderId));
  const made = ofAccount.filter(({ clientOrderId }) => clientOrderId === '');
  const fired = (orders: readonly OrderState[]) =>
    orders.filter(({ activationPrice, filled }) => activationPrice !== null && filled !== '0').length;
  const standing = [...placed, ...made].filter(({ status }) => !isOrderEnd(status)).length;
  row(
    'protection',
    `${placed.length} orders by the relay and ${made.length} by the exchange; ${fired(placed)} and ${fired(made)} stop-losses filled; ${standing} orders stand`,
  );
}

export function printViolations(violations: readonly Violation[]): void {
  print('');
  for (const [what, alike] of Map.groupBy(
    violations,
    (violation) => `${violation.wrong}: ${violation.what}`,
  )) {
    print(`${what} (${alike.length} ×)`);
    for (const { details } of alike.slice(0, mostShown)) print(...details.map((line) => `    ${line}`), '');
  }
}

function countSignals(alerts: readonly SentAlert[]): number {
  return alerts.reduce((sum, { signals }) => sum + signals.length, 0);
}

export function row(what: string, text: string): void {
  print(`${what.padEnd(22)}${text}`);
}

export function seconds(durationMs: number): string {
  return (durationMs / 1000).toFixed(1);
}

export function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}
