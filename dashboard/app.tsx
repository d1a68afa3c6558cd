import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Badge, FailureBox, Link } from './parts/basics.tsx';
import { ConfirmDialog } from './parts/confirm.tsx';
import { Warnings } from './parts/warnings.tsx';
import { about, blocked, place, told } from './state.ts';
import { BuilderView } from './views/builder.tsx';
import { HealthView } from './views/health.tsx';
import { MoneyView } from './views/money.tsx';
import { OrdersView } from './views/orders.tsx';
import { PositionsView } from './views/positions.tsx';
import { PriceView } from './views/price.tsx';
import { SignalView } from './views/signal.tsx';
import { SignalsView } from './views/signals.tsx';

interface ViewRow {
  readonly path: string;
  readonly title: string;
  readonly view: ComponentType;
}

const views: readonly ViewRow[] = [
  { path: '/signals', title: 'Signals', view: SignalsView },
  { path: '/positions', title: 'Positions', view: PositionsView },
  { path: '/orders', title: 'Orders', view: OrdersView },
  { path: '/price', title: 'Price', view: PriceView },
  { path: '/money', title: 'Money', view: MoneyView },
  { path: '/builder', title: 'Alert builder', view: BuilderView },
  { path: '/health', title: 'Health', view: HealthView },
];

function viewOf(path: string): ViewRow {
  const found = views.find((row) => path === row.path || path.startsWith(`${row.path}/`));
  return found ?? (views[0] as ViewRow);
}

export function App() {
  const { path } = place.value;
  const current = viewOf(path);
  const isDetail = path.startsWith('/signals/');
  useEffect(() => {
    document.title = `${current.title} – trading relay`;
  }, [current]);
  if (blocked.value !== null)
    return (
      <main>
        <h1>Trading relay</h1>
        <FailureBox failure={blocked.value} />
      </main>
    );
  if (about.value === null) return <main aria-busy="true" />;
  const View = isDetail ? SignalView : current.view;
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header>
        <RelayLine />
        <Navigation current={current} />
      </header>
      <Warnings />
      <main id="content" tabIndex={-1}>
        <View />
      </main>
      <Told />
      <ConfirmDialog />
    </>
  );
}

function Navigation({ current }: { readonly current: ViewRow }) {
  const bar = useRef<HTMLElement>(null);
  // On a telephone the bar is wider than the screen.
  useEffect(() => {
    bar.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [current]);
  return (
    <nav ref={bar} aria-label="Views">
      {views.map((row) => (
        <Link key={row.path} href={row.path} current={row === current}>
          {row.title}
        </Link>
      ))}
    </nav>
  );
}

function RelayLine() {
  const { value } = about;
  if (value === null) return null;
  return (
    <p class="relay">
      <strong>{value.relay}</strong>
      <Badge tone={value.isPaper ? 'faint' : 'alarm'}>
        {value.isPaper ? 'paper exchange' : 'real exchange'}
      </Badge>
      {value.isReadOnly && <Badge tone="waiting">read-only</Badge>}
    </p>
  );
}

const toldForMs = 8_000;

/** What was just done. */
function Told() {
  const text = told.value;
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    setShown(text !== '');
    const timer = setTimeout(() => setShown(false), toldForMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <output class={isShown ? 'told' : 'told hidden'} aria-live="polite">
      {text}
    </output>
  );
}
