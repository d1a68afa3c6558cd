import { useEffect, useRef } from 'preact/hooks';
import { candleIntervals } from '../../lib/model/market-data.ts';
import { read } from '../calls.ts';
import type { PriceDocument } from '../documents.ts';
import { Badge, Choice, Empty, FailureBox, Loading, SignalLink } from '../parts/basics.tsx';
import { onColoursChange } from '../parts/chart-colours.ts';
import type { PriceChart } from '../parts/price-chart.ts';
import { Table } from '../parts/table.tsx';
import { about, keep, place } from '../state.ts';
import { useReading } from '../use-reading.ts';
import { showMoment, showNumber } from '../words.ts';

export function PriceView() {
  const { query } = place.value;
  const accounts = about.value?.accounts ?? [];
  const markets = [...new Set(accounts.flatMap((each) => each.markets.map(({ market }) => market)))];
  const market = query.get('market') ?? markets[0] ?? '';
  const interval = query.get('interval') ?? (about.value?.isPaper === true ? '1m' : '15m');
  const {
    document: shown,
    failure,
    isLoading,
  } = useReading(
    (signal) => read<PriceDocument>('/api/price', { market, interval }, signal),
    `${market} ${interval}`,
    5_000,
  );
  return (
    <>
      <h1>Price</h1>
      <div class="bar">
        <Choice
          label="Market"
          value={market}
          options={markets.map((each) => [each, each] as const)}
          choose={(value) => keep({ market: value })}
        />
        <Choice
          label="Candles"
          value={interval}
          options={candleIntervals.map((each) => [each, each] as const)}
          choose={(value) => keep({ interval: value })}
        />
      </div>
      <FailureBox failure={failure} />
      {shown?.missing.map((text) => (
        <p key={text} class="note waiting">
          Not shown: {text}
        </p>
      ))}
      <Loading isLoading={isLoading && shown === null} />
      {shown !== null && shown.candles.length === 0 && (
        <Empty>The exchange has no candles of {market} in this time.</Empty>
      )}
      <Chart shown={shown} />
      <p class="faint attribution">
        Chart:{' '}
        <a href="https://www.tradingview.com/" rel="noreferrer noopener" target="_blank">
          TradingView Lightweight Charts™
        </a>
        . Copyright (c) 2025 TradingView, Inc. Arrows are fills, dots alerts; lines are orders, stop-losses,
        take-profits and the entry of a position.
      </p>
      {shown !== null && <InWords shown={shown} />}
    </>
  );
}

function Chart({ shown }: { readonly shown: PriceDocument | null }) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<PriceChart | null>(null);
  const latest = useRef(shown);
  latest.current = shown;
  useEffect(() => {
    let isGone = false;
    let end: () => void = () => undefined;
    // Only who looks at prices loads the library.
    void import('../parts/price-chart.ts').then(({ drawPriceChart }) => {
      if (isGone || box.current === null) return;
      chart.current = drawPriceChart(box.current);
      if (latest.current !== null) chart.current.show(latest.current);
      end = onColoursChange(() => chart.current?.recolour());
    });
    return () => {
      isGone = true;
      end();
      chart.current?.remove();
      chart.current = null;
    };
  }, []);
  useEffect(() => {
    if (shown !== null) chart.current?.show(shown);
  }, [shown]);
  return (
    <div
      ref={box}
      class="chart"
      role="img"
      aria-label={`Candles of ${shown?.market ?? 'the market'}. The tables below say what is drawn on them.`}
    />
  );
}

/** The same for who cannot see the chart. */
function InWords({ shown: { levels, marks } }: { readonly shown: PriceDocument }) {
  return (
    <>
      <Table
        caption="What stands now"
        rows={levels}
        keyOf={({ kind, price, text }) => kind + price + text}
        columns={[
          { title: 'what', cell: ({ kind }) => <Badge tone="faint">{kind}</Badge> },
          { title: 'price', align: 'right', cell: ({ price }) => showNumber(price) },
          { title: 'says', cell: ({ text }) => text },
        ]}
      />
      <Table
        caption="What happened, newest first"
        rows={marks.toReversed().slice(0, 50)}
        keyOf={({ atMs, text, signalId, kind }) => `${atMs} ${kind} ${signalId} ${text}`}
        columns={[
          { title: 'time', cell: ({ atMs }) => showMoment(atMs) },
          { title: 'what', cell: ({ kind }) => kind },
          { title: 'says', cell: ({ text }) => text },
          {
            title: 'signal',
            cell: ({ signalId, account }) => <SignalLink account={account} signalId={signalId} />,
          },
        ]}
      />
    </>
  );
}
