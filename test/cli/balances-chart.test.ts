import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import {
  dayMs,
  hourMs,
  openSnapshotFolder,
  type StoredSnapshots,
  startMs,
  storeBalances,
} from './stored-snapshots.ts';

describe('a chart of balances', () => {
  let stored: StoredSnapshots;
  let out: string;
  const fiveDays = ['balances', 'chart', '--from', '2024-03-01', '--to', '2024-03-05'];

  beforeAll(async () => {
    stored = openSnapshotFolder();
    out = join(stored.path, 'chart.svg');
    await storeBalances(stored.store);
  });

  afterAll(() => stored.remove());

  test('is a picture with a panel for each ticker, steps, spikes and gaps', async () => {
    const { stdout, exitCode } = await runCli(stored.here(...fiveDays, '--main', '--out', out));

    expect(exitCode).toBe(0);
    expect(stdout).toBe(`${out}: 3 panels, 2024-03-01 00:00 to 2024-03-05 23:59 UTC, 108 snapshots\n`);
    const elements = readXml(readFileSync(out, 'utf8'));
    const named = (name: string, className: string) =>
      elements.filter((element) => element.name === name && element.attributes['class'] === className);
    expect(named('g', 'panel')).toHaveLength(3);
    // 880 pixels are 120 hours: the gap is from the 53rd to the 66th.
    expect(named('rect', 'gap').map(({ attributes: { x, width } }) => [x, width])).toEqual([
      ['388', '96'],
      ['388', '96'],
      ['388', '96'],
    ]);
    expect(named('path', 'line').map(({ attributes }) => attributes['d'])).toEqual([
      // BTC: 1.25 at the bottom, from noon of the second day on 1.5 at the top.
      'M0.5 180H264.5V0H388.5M484.5 0H872.5',
      // ETH: nothing until the fourth day.
      'M0.5 180H388.5M484.5 180H528.5V0H872.5',
      // USDT: one hour at nearly 100 000.
      'M0.5 135H388.5M484.5 135H564.5V1.8H572.5V135H872.5',
    ]);
    const texts = elements.map(({ text }) => text);
    expect(texts).toEqual(
      expect.arrayContaining([
        'Balances of account main',
        '2024-03-01 00:00 to 2024-03-05 23:59 UTC, 108 snapshots',
        'main balance',
        'no snapshots',
        'BTC',
        'last 1.5 · least 1.25 · most 1.5',
        '1.25',
        '1.50',
        '2 Mar',
        'last 25,000.75 · least 25,000.75 · most 99,000.5',
        '100,000',
      ]),
    );
  });

  test('draws the requested tickers, also of the collateral', async () => {
    const [main, collateral] = await Promise.all([
      runForJson(stored.here(...fiveDays, '--tickers', 'BTC', '--out', `${out}.1.svg`)),
      runForJson(stored.here('balances', '--collateral', ...fiveDays.slice(1), '--out', `${out}.2.svg`)),
    ]);

    const gap = { fromMs: startMs + 53 * hourMs, untilMs: startMs + 66 * hourMs };
    const period = { fromMs: startMs, untilMs: startMs + 5 * dayMs };
    expect(main).toEqual({
      account: 'main',
      kind: 'main',
      ...period,
      snapshots: 108,
      gaps: [gap],
      tickers: ['BTC'],
      path: `${out}.1.svg`,
    });
    // Before the fourth day nobody knew it.
    expect(collateral).toMatchObject({
      kind: 'collateral',
      snapshots: 48,
      gaps: [{ fromMs: startMs, untilMs: startMs + 3 * dayMs }],
      tickers: ['USDT'],
    });
  });

  test('fits a terminal of eighty columns, with ends and extremes in words', async () => {
    const { stdout } = await runCli(stored.here(...fiveDays, '--main'));

    const lines = stripVTControlCharacters(stdout).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines).toEqual(
      expect.arrayContaining([
        'main balance of account main',
        'BTC',
        'first 1.25, last 1.5, least 1.25, most 1.5',
        'first 0, last 20, least 0, most 20',
        'first 25,000.75, last 25,000.75, least 25,000.75, most 99,000.5',
      ]),
    );
    expect(lines.filter((line) => line.includes('┤')).map((line) => line.slice(0, 14).trim())).toEqual(
      expect.arrayContaining(['100,000 ┤', '50,000 ┤', '20 ┤', '1.5 ┤']),
    );
    expect(lines.filter((line) => line.endsWith('2024-03-05 23:59 UTC'))).toHaveLength(3);
  });

  test('draws the balance that the account trades with, unless the main balance is asked for', async () => {
    const [trading, main] = await Promise.all([
      runForJson(stored.here(...fiveDays)),
      runForJson(stored.here(...fiveDays, '--main')),
    ]);

    expect(trading).toMatchObject({ kind: 'collateral', tickers: [{ ticker: 'USDT' }] });
    expect(main).toMatchObject({
      kind: 'main',
      tickers: [{ ticker: 'BTC' }, { ticker: 'ETH' }, { ticker: 'USDT' }],
    });
  });

  test('begins with the first snapshot if no range is given', async () => {
    const recent = openSnapshotFolder();
    const firstMs = Math.floor(Date.now() / 60_000) * 60_000 - 20 * 60_000;
    for (const slotMs of [firstMs, firstMs + 10 * 60_000])
      await recent.store.balances.write('main', {
        slotMs,
        takenAtMs: slotMs,
        main: { BTC: parseDecimal('1') },
        collateral: null,
      });

    const [chart, list] = await Promise.all([
      runForJson(recent.here('balances', 'chart')),
      runForJson(recent.here('balances')),
    ]);
    recent.remove();

    // No collateral balance is recorded, so the main balance is drawn.
    expect(chart).toMatchObject({ kind: 'main', fromMs: firstMs, snapshots: 2 });
    expect(list).toMatchObject({ fromMs: firstMs, everyMs: 60_000 });
  });

  test('names requested tickers that were never held, in the terminal and for a picture', async () => {
    const named = ['--tickers', 'BTC,BTCC,ETHH'];
    const [terminal, picture, known] = await Promise.all([
      runCli(stored.here(...fiveDays, ...named)),
      runCli(stored.here(...fiveDays, ...named, '--out', `${out}.3.svg`)),
      runCli(stored.here(...fiveDays, '--tickers', 'BTC,ETH')),
    ]);

    const note = 'No balance at any of these times: BTCC, ETHH.';
    expect(terminal.stdout).toContain(note);
    expect(picture.stdout).toContain(note);
    expect(known.stdout).not.toContain('Not held');
  });

  test('leaves no partial file behind when it cannot be written', async () => {
    const nowhere = join(stored.path, 'nowhere', 'chart.svg');

    const failure = await runForFailure(stored.here(...fiveDays, '--out', nowhere));

    expect(failure).toMatchObject({ exitCode: 1, code: 'not_written' });
    expect(existsSync(nowhere)).toBe(false);
  });

  test.each([
    [['--out', 'chart.png'], 'end in .svg'],
    [['--every', '1d'], '`balances chart` has no option --every'],
    [['--from', 'yesterday'], 'date or a time in UTC'],
  ])('cannot be asked for with %j', async (args, message) => {
    const failure = await runForFailure(stored.here('balances', 'chart', ...args));

    expect(failure).toMatchObject({ exitCode: 2, code: 'usage' });
    expect(failure.message).toContain(message);
  });
});

interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Directly in it, with the five entities as they are written. */
  text: string;
}

/**
 * Every element of a document without declarations, comments and CDATA.
 *
 * @throws Error when it is not well formed
 */
function readXml(document: string): readonly XmlElement[] {
  const elements: XmlElement[] = [];
  const open: XmlElement[] = [];
  const token =
    /<(\/?)([a-z]+)((?:\s+[A-Za-z:-]+="(?:[^"<&]|&(?:amp|lt|gt|quot);)*")*)(\/?)>|((?:[^<&]|&(?:amp|lt|gt|quot);)+)/y;
  let position = 0;
  while (position < document.length) {
    token.lastIndex = position;
    const [whole, slash, name = '', attributes = '', isEmpty, text] = token.exec(document) ?? [];
    if (whole === undefined) throw new Error(`not XML: ${document.slice(position, position + 40)}`);
    position += whole.length;
    const parent = open.at(-1);
    if (text !== undefined) {
      if (parent !== undefined) parent.text += text;
      else if (text.trim() !== '') throw new Error(`text outside of everything: ${text}`);
    } else if (slash === '/') {
      if (open.pop()?.name !== name) throw new Error(`</${name}> closes nothing`);
    } else {
      const pairs = [...attributes.matchAll(/([A-Za-z:-]+)="([^"]*)"/g)].map(([, key, value]) => [
        key,
        value,
      ]);
      if (new Set(pairs.map(([key]) => key)).size < pairs.length)
        throw new Error(`an attribute twice: ${whole}`);
      const element = { name, attributes: Object.fromEntries(pairs), text: '' };
      elements.push(element);
      if (isEmpty === '') open.push(element);
    }
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)?.name}> is never closed`);
  return elements;
}
