import { useEffect, useRef, useState } from 'preact/hooks';
import { statuses } from '../../lib/model/outcome.ts';
import { failureOf, read } from '../calls.ts';
import type { ShownFailure, SignalList, SignalRow } from '../documents.ts';
import { appendOlder, type Feed, keyOf, mergeNewest } from '../merge-rows.ts';
import { Choice, Empty, FailureBox, Link, Loading, StatusBadge, TextEntry } from '../parts/basics.tsx';
import { WindowedList } from '../parts/windowed-list.tsx';
import { about, keep, place, tell } from '../state.ts';
import { endMsOfDay, firstMsOfDay, showDuration, showTime } from '../words.ts';

const pageSize = 100;
const nothing: Feed = { rows: [], next: null };
const narrow = matchMedia('(max-width: 760px)');

/** The filters, as the address bar has them. */
const filterNames = ['account', 'market', 'status', 'from', 'to', 'text'] as const;
type Filters = Readonly<Record<(typeof filterNames)[number], string>>;

function filtersOf(query: URLSearchParams): Filters {
  return Object.fromEntries(filterNames.map((name) => [name, query.get(name) ?? ''])) as Filters;
}

function queryOf({ from, to, ...filters }: Filters) {
  return { ...filters, fromMs: firstMsOfDay(from), untilMs: endMsOfDay(to), limit: pageSize };
}

export function SignalsView() {
  const filters = filtersOf(place.value.query);
  const key = JSON.stringify(filters);
  const { feed, failure, isLoading, isCut, readMore } = useFeed(filters, key);
  const isNarrow = useIsNarrow();
  return (
    <>
      <h1>Signals</h1>
      <FilterBar filters={filters} />
      <FailureBox failure={failure} />
      {feed.rows.length > 0 && (
        <div class="signal-head" aria-hidden="true">
          <span>time</span>
          <span>outcome</span>
          <span>market</span>
          <span>what</span>
          <span>filled</span>
          <span>result</span>
          <span>took</span>
        </div>
      )}
      <WindowedList
        label="Signals, newest first"
        rows={feed.rows}
        hasMore={feed.next !== null}
        rowHeight={isNarrow ? 76 : 40}
        keyOf={(row: SignalRow) => keyOf(row)}
        render={(row) => <Row row={row} />}
        readMore={readMore}
      />
      <Loading isLoading={isLoading && feed.rows.length === 0} />
      {!isLoading && feed.rows.length === 0 && failure === null && (
        <Empty>{isCut ? 'No signal matches so far.' : 'No signals yet with these filters.'}</Empty>
      )}
      {isCut && (
        <p class="note">
          The search stopped after 10 000 signals; there are older ones.{' '}
          <button type="button" onClick={readMore}>
            Search on
          </button>
        </p>
      )}
    </>
  );
}

function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const change = () => setNarrow(narrow.matches);
    narrow.addEventListener('change', change);
    return () => narrow.removeEventListener('change', change);
  }, []);
  return isNarrow;
}

/** The signals of the filters: the newest are read in turns, older ones when they are wanted. */
function useFeed(filters: Filters, key: string) {
  const [feed, setFeed] = useState<Feed>(nothing);
  const [failure, setFailure] = useState<ShownFailure | null>(null);
  const [isLoading, setLoading] = useState(true);
  const [isCut, setCut] = useState(false);
  const shown = useRef<Feed>(nothing);
  const reading = useRef(false);
  const show = (next: Feed) => {
    shown.current = next;
    setFeed(next);
  };

  useEffect(() => {
    const stopping = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isFirst = true;
    show(nothing);
    setLoading(true);
    async function turn(): Promise<void> {
      try {
        if (!document.hidden || isFirst) {
          const list = await read<SignalList>('/api/signals', queryOf(filters), stopping.signal);
          take(list, isFirst);
          isFirst = false;
        }
      } catch (error) {
        if (stopping.signal.aborted) return;
        setFailure(failureOf(error));
        setLoading(false);
      }
      timer = setTimeout(turn, about.value?.refreshMs ?? 2_000);
    }
    function take({ rows, next, isCut: cut }: SignalList, isStart: boolean): void {
      const { feed: merged, added } = mergeNewest(shown.current, { rows, next });
      if (isStart) setCut(cut);
      if (!isStart && added > 0) announce(merged, added);
      show(merged);
      setFailure(null);
      setLoading(false);
    }
    const soon = setTimeout(turn, 0);
    return () => {
      stopping.abort();
      clearTimeout(soon);
      clearTimeout(timer);
    };
  }, [key]);

  function readMore(): void {
    const { next } = shown.current;
    if (next === null || reading.current) return;
    reading.current = true;
    read<SignalList>('/api/signals', { ...queryOf(filters), limit: 500, before: next })
      .then(({ rows, next: older, isCut: cut }) => {
        show(appendOlder(shown.current, { rows, next: older }));
        setCut(cut);
      })
      .catch((error: unknown) => setFailure(failureOf(error)))
      .finally(() => {
        reading.current = false;
      });
  }

  return { feed, failure, isLoading, isCut, readMore };
}

function announce({ rows: [newest] }: Feed, added: number): void {
  if (newest === undefined) return;
  tell(
    added === 1 ? `New signal: ${newest.what} ${newest.market}, ${newest.status}` : `${added} new signals`,
  );
}

function FilterBar({ filters }: { readonly filters: Filters }) {
  const accounts = about.value?.accounts ?? [];
  const markets = [...new Set(accounts.flatMap((each) => each.markets.map(({ market }) => market)))];
  const set = (name: keyof Filters) => (value: string) => keep({ [name]: value });
  const [text, setText] = useState(filters.text);
  useEffect(() => {
    const timer = setTimeout(() => text !== filters.text && keep({ text }), 300);
    return () => clearTimeout(timer);
  }, [text]);
  const isFiltered = Object.values(filters).some((value) => value !== '');
  return (
    <search class="filters">
      <Choice
        label="Account"
        value={filters.account}
        options={[['', 'all'], ...accounts.map(({ name }) => [name, name] as const)]}
        choose={set('account')}
      />
      <Choice
        label="Market"
        value={filters.market}
        options={[['', 'all'], ...markets.map((market) => [market, market] as const)]}
        choose={set('market')}
      />
      <Choice
        label="Outcome"
        value={filters.status}
        options={[['', 'all'], ...statuses.map((status) => [status, status.replace('_', ' ')] as const)]}
        choose={set('status')}
      />
      <TextEntry label="From" type="date" value={filters.from} change={set('from')} />
      <TextEntry label="To" type="date" value={filters.to} change={set('to')} />
      <TextEntry label="Text" type="search" value={text} placeholder="id or words" change={setText} />
      {isFiltered && (
        <button
          type="button"
          onClick={() => {
            setText('');
            keep(Object.fromEntries(filterNames.map((name) => [name, ''])));
          }}
        >
          Clear
        </button>
      )}
    </search>
  );
}

function Row({ row }: { readonly row: SignalRow }) {
  const { account, signalId, status, atMs, market, side, what, filled, result, reason, tookMs, strategy } =
    row;
  const href = `/signals/${encodeURIComponent(account)}/${encodeURIComponent(signalId)}${place.value.query.size > 0 ? `?${place.value.query}` : ''}`;
  return (
    <Link href={href} class={status === 'unknown' ? 'signal unknown' : 'signal'}>
      <time dateTime={new Date(atMs).toISOString()}>{showTime(atMs)}</time>
      <span class="outcome">
        <StatusBadge status={status} />
      </span>
      <span class="market">{market}</span>
      <span class={`what ${side ?? ''}`}>
        {what}
        {strategy === null ? '' : ` · ${strategy}`}
      </span>
      {reason === null ? (
        <>
          <span class="filled">{filled ?? ''}</span>
          <span class="result">{result ?? ''}</span>
        </>
      ) : (
        <span class="reason" title={reason}>
          {reason}
        </span>
      )}
      <span class="took">{tookMs === null ? '' : showDuration(tookMs)}</span>
    </Link>
  );
}
