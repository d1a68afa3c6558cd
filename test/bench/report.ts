import type { CpuInfo } from 'node:os';
import type { Run } from './load.ts';
import type { Share } from './profile.ts';
import type { SigningRates } from './signing.ts';
import {
  formatNumber,
  formatRatio,
  formatSpread,
  percentileOf,
  type Spread,
  spreadOf,
} from './statistics.ts';

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

/** One line of a table: what it is about, then columns. */
function rowOf(what: string, ...columns: readonly string[]): string {
  return `  ${what.padEnd(38)}${columns.map((column) => column.padStart(26)).join('')}`;
}

export function printMachine(processors: readonly CpuInfo[], rounds: number): void {
  print(
    `Node ${process.version}, ${process.platform} ${process.arch}, ${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'}`,
    `Every figure is the median of ${rounds} rounds (least–most). Driver, servers and exchange are processes of their own;`,
    'the exchange is a stub that takes every order at once. The bare server signs and sends one body for each alert;',
    'the relay checks, stores, queues, sends and writes down, every write flushed to the disk.',
    'Answered: from the post to its response, of the relay once the signal is stored and queued.',
    'Placed: from the post until the exchange has answered and, of the relay, the outcome is written.',
  );
}

export function printSigning({ bare, signed, sent }: SigningRates): void {
  const row = (what: string, rate: Spread) =>
    rowOf(what, formatSpread(rate, 0), formatRatio(bare.median / rate.median));
  print(
    rowOf('Signing', 'per second', 'time to bare'),
    row('bare HMAC-SHA512 and base64', bare),
    row('nonce, JSON and signature', signed),
    row('the whole client but the wire', sent),
  );
}

export function printComparison(load: number, bare: readonly Run[], relay: readonly Run[]): void {
  const row = (what: string, figureOf: (run: Run) => number, digits: number) => {
    const [bareSpread, relaySpread] = [spreadOf(bare.map(figureOf)), spreadOf(relay.map(figureOf))];
    const ratio = formatRatio(relaySpread.median / bareSpread.median);
    return rowOf(what, formatSpread(bareSpread, digits), formatSpread(relaySpread, digits), ratio);
  };
  const latency = (end: 'answeredMs' | 'placedMs', share: number) => (run: Run) =>
    percentileOf(
      run.passages.map((passage) => passage[end]),
      share,
    );
  print(
    rowOf(`${load} in flight`, 'bare', 'relay', 'relay to bare'),
    row('CPU time per order, µs', ({ cpuMicrosPerOrder }) => cpuMicrosPerOrder, 0),
    row('orders per second', ({ ordersPerSecond }) => ordersPerSecond, 0),
    row('answered, p50, ms', latency('answeredMs', 0.5), 2),
    row('answered, p99, ms', latency('answeredMs', 0.99), 2),
    row('placed, p50, ms', latency('placedMs', 0.5), 2),
    row('placed, p99, ms', latency('placedMs', 0.99), 2),
  );
}

export function printKinds(load: number, stopLimit: readonly Run[], market: readonly Run[]): void {
  const row = (what: string, figureOf: (run: Run) => number, digits: number) => {
    const [one, other] = [spreadOf(stopLimit.map(figureOf)), spreadOf(market.map(figureOf))];
    const ratio = formatRatio(other.median / one.median);
    return rowOf(what, formatSpread(one, digits), formatSpread(other, digits), ratio);
  };
  print(
    rowOf(`The relay, ${load} in flight`, 'stop-limit', 'guarded market', 'market to stop-limit'),
    row('CPU time per order, µs', ({ cpuMicrosPerOrder }) => cpuMicrosPerOrder, 0),
    row('placed, p50, ms', placedAt(0.5), 2),
    row('placed, p99, ms', placedAt(0.99), 2),
  );
}

/** The time within which that share of the orders was placed, in milliseconds. */
export function placedAt(share: number): (run: Run) => number {
  return ({ passages }) =>
    percentileOf(
      passages.map(({ placedMs }) => placedMs),
      share,
    );
}

/** @param shares in microseconds per order */
export function printShares(load: number, shares: readonly Share[]): void {
  print(
    `The relay's main thread with ${load} in flight, by a sampling profile, µs per order`,
    ...shares.map(({ part, micros }) => `  ${part.padEnd(52)}${formatNumber(micros, 0).padStart(12)}`),
    `  ${'together'.padEnd(52)}${formatNumber(
      shares.reduce((sum, { micros }) => sum + micros, 0),
      0,
    ).padStart(12)}`,
  );
}
