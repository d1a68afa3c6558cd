import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface ListProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  /** Whether more rows can be read. */
  readonly hasMore: boolean;
  /** Of a row, in pixels; the style sheet gives the same. */
  readonly rowHeight: number;
  keyOf(row: Row): string;
  render(row: Row): ComponentChildren;
  /** Called when the end comes near. */
  readMore(): void;
}

/** Rows beyond the screen, on either side. */
const margin = 12;

/**
 * A list of which only the rows near the screen are made, however long it is. Each row holds one link: arrows, Home and End move
 * between them.
 */
export function WindowedList<Row>({
  label,
  rows,
  hasMore,
  rowHeight,
  keyOf,
  render,
  readMore,
}: ListProps<Row>) {
  const list = useRef<HTMLUListElement>(null);
  const [range, setRange] = useState({ first: 0, last: 60 });
  const wanted = useRef<number | null>(null);

  useEffect(() => {
    let frame = 0;
    function measure(): void {
      frame = 0;
      const top = list.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / rowHeight) - margin);
      const last = Math.ceil((innerHeight - top) / rowHeight) + margin;
      setRange((before) => (before.first === first && before.last === last ? before : { first, last }));
    }
    function soon(): void {
      if (frame === 0) frame = requestAnimationFrame(measure);
    }
    measure();
    addEventListener('scroll', soon, { passive: true });
    addEventListener('resize', soon);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('scroll', soon);
      removeEventListener('resize', soon);
    };
  }, [rowHeight, rows.length]);

  useEffect(() => {
    if (hasMore && range.last > rows.length - margin) readMore();
  }, [hasMore, range.last, rows.length]);

  useEffect(() => {
    if (wanted.current !== null && focusRow(list.current, wanted.current)) wanted.current = null;
  });

  function move(event: KeyboardEvent): void {
    const step = stepOf(event.key, rows.length);
    const row = (event.target as HTMLElement).closest('[aria-posinset]');
    if (step === null || row === null) return;
    event.preventDefault();
    const at = Number(row.getAttribute('aria-posinset')) - 1;
    const next = Math.min(rows.length - 1, Math.max(0, at + step));
    showRow(list.current, next, rowHeight);
    if (focusRow(list.current, next)) return;
    // It is made with the next turn of the list.
    wanted.current = next;
    setRange((before) => ({ ...before }));
  }

  const first = Math.min(range.first, Math.max(0, rows.length - 1));
  const shown = rows.slice(first, range.last);
  return (
    <ul
      ref={list}
      class="signals"
      aria-label={label}
      style={{ height: `${rows.length * rowHeight}px` }}
      onKeyDown={move}
    >
      {shown.map((row, index) => (
        <li
          key={keyOf(row)}
          aria-setsize={hasMore ? -1 : rows.length}
          aria-posinset={first + index + 1}
          style={{ transform: `translateY(${(first + index) * rowHeight}px)` }}
        >
          {render(row)}
        </li>
      ))}
    </ul>
  );
}

function stepOf(key: string, count: number): number | null {
  switch (key) {
    case 'ArrowDown':
      return 1;
    case 'ArrowUp':
      return -1;
    case 'Home':
      return -count;
    case 'End':
      return count;
    default:
      return null;
  }
}

/** @returns whether the row was there */
function focusRow(list: HTMLElement | null, index: number): boolean {
  const link = list?.querySelector<HTMLElement>(`[aria-posinset="${index + 1}"] a`);
  link?.focus({ preventScroll: true });
  return link !== null && link !== undefined;
}

/** Scrolls so that the row can be made and seen. */
function showRow(list: HTMLElement | null, index: number, rowHeight: number): void {
  if (list === null) return;
  const top = list.getBoundingClientRect().top + index * rowHeight;
  // What stays at the top of the screen must not hide it.
  if (top < 120) scrollBy(0, top - 120);
  else if (top + rowHeight > innerHeight - 60) scrollBy(0, top + rowHeight - innerHeight + 60);
}
