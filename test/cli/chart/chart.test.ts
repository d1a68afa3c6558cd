import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createScale, createTimeTicks } from '../../../cli/chart/axes.ts';
import { drawSvg } from '../../../cli/chart/draw-svg.ts';
import { countDotColumns, drawTerminal } from '../../../cli/chart/draw-terminal.ts';
import { findGaps } from '../../../cli/chart/find-gaps.ts';
import { findRuns } from '../../../cli/chart/find-runs.ts';
import { type Trace, type Traces, traceBalances } from '../../../cli/chart/trace-balances.ts';
import { formatDecimal, parseDecimal } from '../../../lib/base/decimal.ts';
import type { BalanceSnapshot } from '../../../lib/snapshots/snapshot-store.ts';
import { amountsOf, dayMs, hourMs, startMs } from '../stored-snapshots.ts';

/** Snapshots at hours after the start. */
async function* snapshotsAt(
  held: Readonly<Record<number, Readonly<Record<string, string>>>>,
): AsyncGenerator<BalanceSnapshot> {
  for (const [hour, amounts] of Object.entries(held)) {
    const slotMs = startMs + Number(hour) * hourMs;
    yield { slotMs, takenAtMs: slotMs, main: amountsOf(amounts), collateral: null };
  }
}

function trace(
  held: Readonly<Record<number, Readonly<Record<string, string>>>>,
  { hours, columns }: { readonly hours: number; readonly columns: number },
): Promise<Traces> {
  const period = { fromMs: startMs, untilMs: startMs + hours * hourMs };
  return traceBalances(snapshotsAt(held), { period, kind: 'main', tickers: null, columns });
}

async function traceOne(values: readonly string[]): Promise<Trace> {
  const held = Object.fromEntries(values.map((value, hour) => [hour, { BTC: value }]));
  const { traces } = await trace(held, { hours: values.length, columns: values.length });
  const [only] = traces;
  if (only === undefined) throw new Error('there is no trace');
  return only;
}

describe('a trace', () => {
  test('keeps first, least, most and last of every column, so that no spike is lost', async () => {
    const { traces } = await trace(
      { 0: { BTC: '2' }, 1: { BTC: '9' }, 2: { BTC: '1' }, 3: { BTC: '3' }, 4: { BTC: '4' } },
      { hours: 8, columns: 2 },
    );

    expect(traces.map(({ spans, ...rest }) => [JSON.parse(JSON.stringify(rest)), [...spans]])).toEqual([
      [
        { ticker: 'BTC', first: '2', last: '4', least: '1', most: '9' },
        [
          [0, { first: 2, least: 1, most: 9, last: 3 }],
          [1, { first: 4, least: 4, most: 4, last: 4 }],
        ],
      ],
    ]);
  });

  test('is zero while a ticker is not held, before and after', async () => {
    const { traces } = await trace({ 0: {}, 1: { ETH: '5' }, 2: { BTC: '1' } }, { hours: 3, columns: 3 });

    expect(traces.map(({ ticker, spans }) => [ticker, [...spans.values()].map(({ last }) => last)])).toEqual([
      ['BTC', [0, 0, 1]],
      ['ETH', [0, 5, 0]],
    ]);
  });

  test('keeps amounts exact that no float can represent', async () => {
    const { least, most } = await traceOne(['123456789012.12345678', '123456789012.12345679']);

    expect(JSON.stringify({ least, most })).toBe(
      '{"least":"123456789012.12345678","most":"123456789012.12345679"}',
    );
  });
});

describe('gaps', () => {
  const day = { fromMs: startMs, untilMs: startMs + dayMs };
  const hoursOf = (slots: readonly number[], period = day) =>
    findGaps(
      slots.map((hour) => startMs + hour * hourMs),
      period,
    ).map(({ fromMs, untilMs }) => [(fromMs - startMs) / hourMs, (untilMs - startMs) / hourMs]);
  const range = (from: number, until: number) =>
    Array.from({ length: until - from }, (_, index) => from + index);

  test('are where one or more snapshots are missing', () => {
    expect(hoursOf([...range(0, 7), ...range(8, 15), ...range(20, 24)])).toEqual([
      [6, 8],
      [14, 20],
    ]);
  });

  test('reach to the ends of the range', () => {
    expect(hoursOf(range(5, 20))).toEqual([
      [0, 5],
      [19, 24],
    ]);
  });

  test('are not made by another schedule from some day on', () => {
    const daily = Array.from({ length: 10 }, (_, index) => index * 24);
    const hourly = range(240, 480);
    expect(hoursOf([...daily, ...hourly], { fromMs: startMs, untilMs: startMs + 20 * dayMs })).toEqual([]);
  });

  test('are unknown between two snapshots alone: dots are drawn, and no line', async () => {
    const month = await trace({ 1: { BTC: '1' }, 672: { BTC: '5' } }, { hours: 720, columns: 60 });
    const svg = drawSvg(month, { title: 'a', subtitle: 'b', legend: 'c' });

    expect(month.gaps).toEqual([]);
    expect(month.traces.map((one) => findRuns(one, month).map((run) => run.length))).toEqual([[1, 1]]);
    expect(svg).toContain('class="line" d=""');
    const dots = [...svg.matchAll(/class="dot" cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"/g)];
    expect(dots.map(([, ...numbers]) => numbers)).toEqual([
      ['0.5', '144', '3.5'],
      ['56.5', '0', '3.5'],
    ]);
    expect(drawTerminal(month).match(/●/g)).toHaveLength(2);
  });

  test('cover the whole range without snapshots, and are unknown next to a single snapshot', () => {
    expect(hoursOf([])).toEqual([[0, 24]]);
    expect(hoursOf([12])).toEqual([]);
  });
});

describe('a scale', () => {
  test.each([
    [['1', '10'], 0, 10, ['0', '5', '10']],
    [['8', '10'], 8, 10, ['8.0', '8.5', '9.0', '9.5', '10.0']],
    [['-5', '-4'], -5, -4, ['-5.0', '-4.5', '-4.0']],
    [['-10', '-1'], -10, 0, ['-10', '-5', '0']],
    [['-3', '7'], -5, 10, ['-5', '0', '5', '10']],
    [['0', '0'], 0, 1, ['0.0', '0.5', '1.0']],
    [['4', '4'], 0, 6, ['0', '2', '4', '6']],
    [['-4', '-4'], -6, 0, ['-6', '-4', '-2', '0']],
    [
      ['0.00000012', '0.00000034'],
      0,
      0.0000004,
      ['0.0000000', '0.0000001', '0.0000002', '0.0000003', '0.0000004'],
    ],
    [['0', '1500000000'], 0, 1.5e9, ['0', '500M', '1B', '1.5B']],
    [
      ['123456789', '123456999'],
      123_456_700,
      123_457_000,
      ['123.4567M', '123.4568M', '123.4569M', '123.457M'],
    ],
    [
      ['-123402000', '-123400000'],
      -123_402_000,
      -123_400_000,
      ['-123.402M', '-123.4015M', '-123.401M', '-123.4005M', '-123.4M'],
    ],
    [['999000000', '1001000000'], 999_000_000, 1_001_000_000, ['999M', '999.5M', '1B', '1.0005B', '1.001B']],
    [['20000', '25000.75'], 20_000, 26_000, ['20,000', '22,000', '24,000', '26,000']],
  ])('of %j reaches from %d to %d', async (values, low, high, labels) => {
    const scale = createScale(await traceOne(values), 3);

    expect(scale).toMatchObject({ low, high });
    expect(scale.ticks.map(({ label }) => label)).toEqual(labels);
  });

  test.each([
    [12 * hourMs, ['1 Mar', '03:00', '06:00', '09:00']],
    [10 * dayMs, ['2 Mar', '4 Mar', '6 Mar', '8 Mar', '10 Mar']],
    [150 * dayMs, ['Mar 2024', 'Apr 2024', 'May 2024', 'Jun 2024', 'Jul 2024']],
    [1_500 * dayMs, ['2025', '2026', '2027', '2028']],
  ])('of %d ms of time has round ones', (lengthMs, labels) => {
    const ticks = createTimeTicks({ fromMs: startMs, untilMs: startMs + lengthMs }, 5);

    expect(ticks.map(({ label }) => label)).toEqual(labels);
  });
});

describe('the labels of an axis', () => {
  test('are all different, whatever is held', async () => {
    const amount = fc
      .tuple(fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), fc.nat({ max: 12 }))
      .map(([digits, places]) => formatDecimal(parseDecimal(`${digits}e-${places}`)));

    await fc.assert(
      fc.asyncProperty(fc.array(amount, { minLength: 1, maxLength: 4 }), async (amounts) => {
        const labels = createScale(await traceOne(amounts), 4).ticks.map(({ label }) => label);
        expect(new Set(labels).size).toBe(labels.length);
      }),
    );
  });

  test('are all different, however long or short the time is', () => {
    const lengthMs = fc.integer({ min: 0, max: 400 }).map((step) => Math.ceil(20 * 1.065 ** step));

    fc.assert(
      fc.property(fc.integer({ min: 0, max: 400 * dayMs }), lengthMs, (offsetMs, length) => {
        const fromMs = startMs + offsetMs;
        const labels = createTimeTicks({ fromMs, untilMs: fromMs + length }, 8).map(({ label }) => label);
        expect(new Set(labels).size).toBe(labels.length);
      }),
    );
  });

  test.each([
    [
      2 * dayMs,
      [
        '1 Mar',
        '1 Mar 06:00',
        '1 Mar 12:00',
        '1 Mar 18:00',
        '2 Mar',
        '2 Mar 06:00',
        '2 Mar 12:00',
        '2 Mar 18:00',
      ],
    ],
    [60_000, ['00:00:00', '00:00:15', '00:00:30', '00:00:45']],
  ])('name the day, or the second, where the hour alone comes twice: %d ms', (lengthMs, labels) => {
    const ticks = createTimeTicks({ fromMs: startMs, untilMs: startMs + lengthMs }, lengthMs > dayMs ? 8 : 4);

    expect(ticks.map(({ label }) => label)).toEqual(labels);
  });
});

describe('a chart in the terminal', () => {
  test('draws steps with their spikes, and nothing over a gap', async () => {
    const held = Object.fromEntries(
      Array.from({ length: 20 }, (_, hour) => [
        hour,
        { BTC: hour === 4 ? '3' : hour < 8 ? '1' : '2' },
      ]).filter((_, hour) => hour < 12 || hour > 15),
    );

    const lines = stripVTControlCharacters(drawTerminal(await trace(held, { hours: 20, columns: 40 }))).split(
      '\n',
    );

    expect(lines).toEqual([
      'BTC',
      'first 1, last 2, least 1, most 3',
      '           3 ┤    ⡏⡇',
      '             │    ⡇⡇',
      '           2 ┤    ⡇⡇  ⡏⠉⠉⠁    ⠉⠉⠉⠁',
      '           1 ┤⣀⣀⣀⣀⡇⣇⣀⣀⡇',
      '             │',
      '           0 ┤',
      '             └────────────────────',
      '              2024-03-01 00:00 2024-03-01 19:59 UTC',
    ]);
  });

  test('fits the screen, however long the amounts are', async () => {
    const held = { 0: { LONG: '1234567890123456.123456789012345678' }, 1: { LONG: '1' } };

    const text = drawTerminal(await trace(held, { hours: 2, columns: countDotColumns(80) }));

    const widths = stripVTControlCharacters(text)
      .split('\n')
      .map((line) => line.length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(80);
    expect(text).toContain('first 1,234,567,890,123,456.123456789012345678');
  });
});

test('a picture escapes what XML reserves, and omits what XML does not allow', async () => {
  const traces = await trace({ 0: { '<&"\u0001>': '1' } }, { hours: 1, columns: 880 });

  const svg = drawSvg(traces, { title: 'a < b', subtitle: 'c & d', legend: 'e' });

  expect(svg).toContain('<title>a &lt; b, c &amp; d</title>');
  expect(svg).toContain('>&lt;&amp;&quot;&gt;</tspan>');
  // One snapshot is a dot, wide enough to be seen.
  expect(svg).toContain('<circle class="dot" cx="0.5" cy="51.4" r="3.5"');
});
