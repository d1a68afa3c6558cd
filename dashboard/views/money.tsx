import { useEffect, useRef } from 'preact/hooks';
import { read } from '../calls.ts';
import type { BalancesShown, HeldRow } from '../documents.ts';
import { AccountChoice } from '../parts/account-choice.tsx';
import { Choice, Empty, FailureBox, Link, Loading, Money, SignalLink, TextEntry } from '../parts/basics.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { account, keep, place } from '../state.ts';
import { useReading } from '../use-reading.ts';
import { showMoment, showNumber } from '../words.ts';

interface ReportRow {
  readonly group: string;
  readonly quote: string;
  readonly signals: { readonly received: number; readonly placed: number };
  readonly deals: number;
  readonly turnover: string;
  readonly slippage: {
    readonly compared: number;
    readonly money: string;
    readonly basisPoints: string | null;
  };
  readonly profit: { readonly gross: string; readonly fees: string; readonly net: string };
  readonly trades: { readonly closed: number; readonly won: number };
}

interface ReportDocument {
  readonly rows: readonly ReportRow[];
  readonly totals: readonly ReportRow[];
}

const kinds = [
  ['collateral', 'collateral, which margin and futures trade with'],
  ['main', 'main balance'],
] as const;

export function MoneyView() {
  return (
    <>
      <h1>Money</h1>
      <div class="bar">
        <AccountChoice />
        <TextEntry
          label="From"
          type="date"
          value={place.value.query.get('from') ?? ''}
          change={(from) => keep({ from })}
        />
        <TextEntry
          label="To"
          type="date"
          value={place.value.query.get('to') ?? ''}
          change={(to) => keep({ to })}
        />
      </div>
      <Balances />
      <Report />
      <Interest />
      <TransferFees />
    </>
  );
}

/** The period of the address bar, as the commands take it. */
function periodOf() {
  const { query } = place.value;
  return { from: query.get('from') ?? '', to: query.get('to') ?? '' };
}

function Balances() {
  const kind = place.value.query.get('balance') ?? 'collateral';
  const period = periodOf();
  const asked = { account: account.value, ...period, collateral: kind === 'collateral' };
  const {
    document: shown,
    failure,
    isLoading,
  } = useReading(
    (signal) => read<BalancesShown>('/api/balances', asked, signal),
    JSON.stringify(asked),
    60_000,
  );
  return (
    <section>
      <h2>What is held</h2>
      <div class="bar">
        <Choice label="Balance" value={kind} options={kinds} choose={(balance) => keep({ balance })} />
      </div>
      <FailureBox failure={failure} />
      <Loading isLoading={isLoading && shown === null} />
      {shown?.rows.length === 0 && (
        <Empty>No snapshot in this time. relay.config.ts says when balances are recorded.</Empty>
      )}
      {shown !== null && shown.rows.length > 0 && <Held shown={shown} />}
    </section>
  );
}

function Held({ shown }: { readonly shown: BalancesShown }) {
  const { account: name, rows, tickers, quote, unpriced, fills } = shown;
  const newest = rows.at(-1);
  const columns: readonly TableColumn<HeldRow>[] = [
    { title: 'time', cell: ({ atMs }) => showMoment(atMs).slice(0, 16) },
    ...tickers.map(
      (ticker): TableColumn<HeldRow> => ({
        title: ticker,
        align: 'right',
        cell: ({ held }) => (held === null ? 'not read' : showNumber(held[ticker] ?? '0')),
      }),
    ),
    { title: `worth in ${quote}`, align: 'right', cell: ({ worth }) => showNumber(worth, 2) },
  ];
  return (
    <>
      <p class="lead">
        {showNumber(newest?.worth, 2)} {quote} <span class="faint">in all, at the prices of now</span>
      </p>
      {unpriced.length > 0 && (
        <p class="note waiting">
          Not counted, because no price in {quote} is known: {unpriced.join(', ')}.
        </p>
      )}
      <WorthChart shown={shown} />
      <details>
        <summary>Each balance over time</summary>
        <Table
          caption="Newest first"
          rows={rows.toReversed()}
          keyOf={({ atMs }) => String(atMs)}
          columns={columns}
        />
      </details>
      {fills.length > 0 && (
        <details>
          <summary>The fills that the arrows mark</summary>
          <Table
            caption="Newest first"
            rows={fills.toReversed()}
            keyOf={({ dealId, side }) => `${dealId} ${side}`}
            columns={[
              { title: 'time', cell: ({ atMs }) => showMoment(atMs) },
              { title: 'fill', cell: ({ side, text }) => <span class={side}>{text}</span> },
              { title: 'signal', cell: ({ signalId }) => <SignalLink account={name} signalId={signalId} /> },
            ]}
          />
        </details>
      )}
    </>
  );
}

function WorthChart({ shown: { rows, quote, fills } }: { readonly shown: BalancesShown }) {
  const box = useRef<HTMLDivElement>(null);
  const key = [...rows.map(({ atMs, worth }) => `${atMs} ${worth}`), ...fills.map(({ atMs }) => atMs)].join();
  useEffect(() => {
    let isGone = false;
    let remove: () => void = () => undefined;
    void import('../parts/lines-chart.ts').then(({ drawLine }) => {
      if (isGone || box.current === null) return;
      const line = drawLine(box.current);
      remove = line.remove;
      const points = rows.flatMap(({ atMs, worth }) =>
        worth === null ? [] : [{ atMs, value: Number(worth) }],
      );
      line.show({ name: quote, points, marks: fills });
    });
    return () => {
      isGone = true;
      remove();
    };
  }, [key]);
  return (
    <>
      <div
        ref={box}
        class="chart small"
        role="img"
        aria-label={`Worth in ${quote} over time, with the fills. The tables below have the values.`}
      />
      <p class="faint attribution">
        Chart:{' '}
        <a href="https://www.tradingview.com/" rel="noreferrer noopener" target="_blank">
          TradingView Lightweight Charts™
        </a>
        . Arrows are fills, at the snapshot before them.
      </p>
    </>
  );
}

const groupings = ['strategy', 'market', 'day', 'account'] as const;

function Report() {
  const by = place.value.query.get('by') ?? 'strategy';
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const asked = { account: account.value, by, timeZone, ...periodOf() };
  const {
    document: shown,
    failure,
    isLoading,
  } = useReading(
    (signal) => read<ReportDocument>('/api/report', asked, signal),
    JSON.stringify(asked),
    60_000,
  );
  const columns: readonly TableColumn<ReportRow>[] = [
    {
      title: by,
      cell: ({ group }) => <GroupName by={by} group={group} />,
    },
    { title: 'signals', align: 'right', cell: ({ signals }) => `${signals.placed} of ${signals.received}` },
    {
      title: 'turnover',
      align: 'right',
      cell: ({ turnover, quote }) => `${showNumber(turnover, 2)} ${quote}`,
    },
    {
      title: 'slippage',
      align: 'right',
      cell: ({ slippage }) =>
        slippage.basisPoints === null
          ? '–'
          : `${showNumber(slippage.money, 2)} (${showNumber(slippage.basisPoints, 1)} bp)`,
    },
    { title: 'fees', align: 'right', cell: ({ profit }) => showNumber(profit.fees, 4) },
    { title: 'gross', align: 'right', cell: ({ profit }) => <Money text={profit.gross} /> },
    { title: 'net', align: 'right', cell: ({ profit }) => <Money text={profit.net} /> },
    { title: 'won', align: 'right', cell: ({ trades }) => `${trades.won} of ${trades.closed}` },
  ];
  return (
    <section>
      <h2>Profit, fees and slippage</h2>
      <div class="bar">
        <Choice
          label="By"
          value={by}
          options={groupings.map((each) => [each, each] as const)}
          choose={(value) => keep({ by: value })}
        />
      </div>
      <FailureBox failure={failure} />
      <Loading isLoading={isLoading && shown === null} />
      {shown?.rows.length === 0 && <Empty>Nothing was traded in this time.</Empty>}
      {shown !== null && shown.rows.length > 0 && (
        <>
          <Table
            caption="Realised at average cost; the last 30 days unless a period is chosen"
            rows={shown.rows}
            keyOf={({ group, quote }) => `${group} ${quote}`}
            columns={columns}
          />
          <Table
            caption="All together"
            rows={shown.totals}
            keyOf={({ quote }) => quote}
            columns={[{ title: 'quote', cell: ({ quote }) => quote }, ...columns.slice(1)]}
          />
        </>
      )}
    </section>
  );
}

interface InterestDocument {
  readonly groups: readonly {
    readonly group: string;
    readonly ticker: string;
    readonly payments: number;
    readonly amount: string;
  }[];
}

function Interest() {
  const { document: shown, failure } = useReading(
    (signal) => read<InterestDocument>('/api/interest', { account: account.value }, signal),
    `interest ${account.value}`,
  );
  return (
    <section>
      <h2>Interest</h2>
      <FailureBox failure={failure} />
      {shown?.groups.length === 0 && <Empty>No payment is recorded.</Empty>}
      {shown !== null && shown.groups.length > 0 && (
        <Table
          caption="By month, as imported"
          rows={shown.groups}
          keyOf={({ group, ticker }) => group + ticker}
          columns={[
            { title: 'month', cell: ({ group }) => group },
            { title: 'payments', align: 'right', cell: ({ payments }) => payments },
            {
              title: 'amount',
              align: 'right',
              cell: ({ amount, ticker }) => `${showNumber(amount)} ${ticker}`,
            },
          ]}
        />
      )}
    </section>
  );
}

interface FeeTerms {
  readonly fixed: string;
  readonly percentFlex: string;
  readonly minAmount: string;
}

interface FeesDocument {
  readonly fees: readonly {
    readonly ticker: string;
    readonly canDeposit: boolean;
    readonly canWithdraw: boolean;
    readonly deposit: FeeTerms;
    readonly withdraw: FeeTerms;
  }[];
}

function TransferFees() {
  const { document: shown, failure } = useReading(
    (signal) => read<FeesDocument>('/api/fees', { account: account.value }, signal),
    `fees ${account.value}`,
  );
  return (
    <section>
      <h2>Transfer fees</h2>
      <FailureBox failure={failure} />
      {shown !== null && (
        <Table
          caption="For deposits and withdrawals, as the exchange states them now"
          rows={shown.fees}
          keyOf={({ ticker }) => ticker}
          columns={[
            { title: 'currency', cell: ({ ticker }) => ticker },
            { title: 'deposit', cell: ({ canDeposit, deposit }) => describeTerms(canDeposit, deposit) },
            {
              title: 'withdrawal',
              cell: ({ canWithdraw, withdraw }) => describeTerms(canWithdraw, withdraw),
            },
          ]}
        />
      )}
    </section>
  );
}

function describeTerms(isPossible: boolean, { fixed, percentFlex, minAmount }: FeeTerms): string {
  if (!isPossible) return 'not possible now';
  const parts = [
    ...(Number(fixed) === 0 ? [] : [showNumber(fixed)]),
    ...(Number(percentFlex) === 0 ? [] : [`${showNumber(percentFlex)} %`]),
  ];
  const least = Number(minAmount) === 0 ? '' : `, at least ${showNumber(minAmount)}`;
  return `${parts.length === 0 ? 'free' : parts.join(' + ')}${least}`;
}

/** What leads to the signals of a group. */
const signalsOf: Readonly<Record<string, (group: string) => string>> = {
  market: (group) => `/signals?market=${encodeURIComponent(group)}`,
  account: (group) => `/signals?account=${encodeURIComponent(group)}`,
};

function GroupName({ by, group }: { readonly by: string; readonly group: string }) {
  const href = signalsOf[by]?.(group);
  if (href !== undefined) return <Link href={href}>{group}</Link>;
  return <>{group === '' ? '(none)' : group}</>;
}
