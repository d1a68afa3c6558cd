import type { Status } from '../../lib/model/outcome.ts';
import { read, send } from '../calls.ts';
import type { AgainOffer } from '../documents.ts';
import { FailureBox, FieldList, Folded, Link, Loading, StatusBadge } from '../parts/basics.tsx';
import { ask } from '../parts/confirm.tsx';
import { PreviewList } from '../parts/preview.tsx';
import { SettlePanel } from '../parts/settle.tsx';
import { Table } from '../parts/table.tsx';
import { about, go, place } from '../state.ts';
import { useReading } from '../use-reading.ts';
import { showDuration, showMoment, showNumber } from '../words.ts';

interface StepShown {
  readonly status: Status;
  readonly atMs: number;
  readonly by?: string;
  readonly note: string;
  readonly evidence?: unknown;
}

interface OrderShown {
  readonly role: string;
  readonly orderId: number;
  readonly status: string;
  readonly filled: string;
  readonly filledNotional: string;
  readonly fees: Readonly<Record<string, string>>;
  readonly price?: string;
  readonly endReason?: string;
}

interface FillShown {
  readonly dealId: number;
  readonly atMs: number;
  readonly role: string;
  readonly side: string;
  readonly amount: string;
  readonly price: string;
  readonly fee: string;
  readonly feeAsset: string;
  readonly liquidity: unknown;
}

/** What `relay signal --json` says, as far as it is shown. */
export interface SignalDocument {
  readonly account: string;
  readonly signalId: string;
  readonly status: Status;
  readonly meaning: string;
  readonly says: string | null;
  readonly advice: string | null;
  readonly signal: Readonly<Record<string, unknown>> | null;
  readonly clientOrderId: string | null;
  readonly fingerprint: string;
  /** Null: it is not kept. */
  readonly message: { readonly text: string; readonly omittedBytes: number } | null;
  readonly orderId: number | null;
  readonly orderOpen: boolean;
  readonly createdAtMs: number;
  readonly steps: readonly StepShown[];
  readonly lookup: {
    readonly count: number;
    readonly dueAtMs: number;
    readonly finding: string | null;
  } | null;
  readonly execution: { readonly orders: readonly OrderShown[] } | null;
  readonly ending: Readonly<Record<string, unknown>> | null;
  readonly result: string | null;
  readonly waits: { readonly reason: string; readonly untilMs: number } | null;
  readonly refusals: readonly { readonly signalId: string; readonly createdAtMs: number }[];
  readonly protects: readonly {
    readonly signalId: string;
    readonly status: Status;
    readonly steps: readonly StepShown[];
  }[];
  readonly fills: readonly FillShown[];
}

export function SignalView() {
  const { path, query } = place.value;
  const [account = '', id = ''] = path.split('/').slice(2).map(decodeURIComponent);
  const {
    document: shown,
    failure,
    isLoading,
    again,
  } = useReading(
    (signal) => read<SignalDocument>('/api/signal', { account, id }, signal),
    path,
    about.value?.refreshMs ?? 2_000,
  );
  const back = `/signals${query.size > 0 ? `?${query}` : ''}`;
  return (
    <>
      <p>
        <Link href={back}>← Signals</Link>
      </p>
      <h1 class="id">{id}</h1>
      <FailureBox failure={failure} />
      <Loading isLoading={isLoading && shown === null} />
      {shown !== null && <Detail shown={shown} again={again} />}
    </>
  );
}

function Detail({ shown, again }: { readonly shown: SignalDocument; again(): void }) {
  const { status, meaning, signal, account } = shown;
  const first = shown.steps[0]?.atMs ?? shown.createdAtMs;
  return (
    <>
      <p class="lead">
        <StatusBadge status={status} /> {meaning}
      </p>
      {shown.advice !== null && <p class="note waiting">{shown.advice}</p>}
      {status === 'unknown' && <SettlePanel account={account} id={shown.signalId} again={again} />}
      <FieldList
        rows={[
          ['account', account],
          ['asked', shown.says],
          ['result', shown.result],
          [
            'waits for',
            shown.waits === null ? null : `${shown.waits.reason}, until ${showMoment(shown.waits.untilMs)}`,
          ],
          ['order', shown.orderId === null ? null : `${shown.orderId}${shown.orderOpen ? ', open' : ''}`],
          ['client order id', shown.clientOrderId],
          [
            'lookups',
            shown.lookup === null ? null : `${shown.lookup.count}; ${shown.lookup.finding ?? 'none yet'}`,
          ],
        ]}
      />
      <AgainButton shown={shown} />
      <h2>Steps</h2>
      <ol class="steps">
        {shown.steps.map((step) => (
          <StepItem key={step.atMs + step.status} step={step} firstAtMs={first} />
        ))}
      </ol>
      <Fills shown={shown} />
      <Protection shown={shown} />
      <h2>The alert</h2>
      <Message shown={shown} />
      {signal === null ? (
        <p>The alert was refused, so there is no signal. The first step says why.</p>
      ) : (
        <Folded title="What was understood" value={signal} />
      )}
      <Folded title="The whole entry of the ledger" value={shown} />
    </>
  );
}

/** The message as it was received. It may hold anything: it is shown as text. */
function Message({ shown: { message, signal, fingerprint } }: { readonly shown: SignalDocument }) {
  const sha = (
    <p class="faint">
      SHA-256 of its bytes: <code>{fingerprint}</code>
    </p>
  );
  if (message === null)
    return (
      <>
        <p class="faint">
          {signal?.['action'] === 'protect'
            ? 'No alert asked for this: the relay did it by itself.'
            : 'Its message is not kept: an older release stored it, it held a secret of the relay, or it was larger than an alert may be.'}
        </p>
        {sha}
      </>
    );
  return (
    <>
      <p>The message as it was received, without secrets</p>
      <pre>{message.text}</pre>
      {message.omittedBytes > 0 && (
        <p class="note waiting">{message.omittedBytes} more bytes at its end were not kept.</p>
      )}
      {sha}
    </>
  );
}

function StepItem({ step, firstAtMs }: { readonly step: StepShown; readonly firstAtMs: number }) {
  const { status, atMs, by, note, evidence } = step;
  return (
    <li>
      <p>
        <StatusBadge status={status} />
        <span class="faint">
          {' '}
          {showMoment(atMs)} · +
          {atMs - firstAtMs < 10_000 ? `${atMs - firstAtMs} ms` : showDuration(atMs - firstAtMs)}
          {by === undefined ? '' : ` · by ${by}`}
        </span>
      </p>
      <p>{note}</p>
      {hintsOf(evidence).map((hint) => (
        <p key={hint} class="hint">
          {hint}
        </p>
      ))}
      {evidence !== undefined && <Folded title="What was asked and answered" value={evidence} />}
    </li>
  );
}

/** Of a refused alert: what to write instead. */
function hintsOf(evidence: unknown): readonly string[] {
  const { issues } = Object(evidence) as { readonly issues?: unknown };
  if (!Array.isArray(issues)) return [];
  return issues.flatMap((issue: unknown) => {
    const { path, hint } = Object(issue) as { readonly path?: string; readonly hint?: string };
    return hint === undefined || hint === ''
      ? []
      : [`${path === undefined || path === '' ? '' : `${path}: `}${hint}`];
  });
}

function Fills({ shown: { execution, fills } }: { readonly shown: SignalDocument }) {
  if (execution === null) return null;
  return (
    <>
      <h2>Orders and fills</h2>
      <Table
        caption="Its order, and the exits that followed from it"
        rows={execution.orders}
        keyOf={({ orderId }) => String(orderId)}
        columns={[
          { title: 'what', cell: ({ role }) => role.replace('_', '-') },
          { title: 'order', cell: ({ orderId }) => orderId },
          {
            title: 'status',
            cell: ({ status, endReason }) => (endReason === undefined ? status : `${status}: ${endReason}`),
          },
          { title: 'price', align: 'right', cell: ({ price }) => showNumber(price) },
          { title: 'filled', align: 'right', cell: ({ filled }) => showNumber(filled) },
          { title: 'worth', align: 'right', cell: ({ filledNotional }) => showNumber(filledNotional, 4) },
          {
            title: 'fees',
            align: 'right',
            cell: ({ fees }) =>
              Object.entries(fees)
                .map(([asset, fee]) => `${showNumber(fee)} ${asset}`)
                .join(', ') || '–',
          },
        ]}
      />
      {fills.length > 0 && (
        <Table
          caption="Each fill"
          rows={fills}
          keyOf={({ dealId, role }) => `${dealId} ${role}`}
          columns={[
            { title: 'time', cell: ({ atMs }) => showMoment(atMs) },
            { title: 'what', cell: ({ role, side }) => (role === 'order' ? side : role.replace('_', '-')) },
            { title: 'amount', align: 'right', cell: ({ amount }) => showNumber(amount) },
            { title: 'price', align: 'right', cell: ({ price }) => showNumber(price) },
            { title: 'fee', align: 'right', cell: ({ fee, feeAsset }) => `${showNumber(fee)} ${feeAsset}` },
            { title: 'as', cell: ({ liquidity }) => (typeof liquidity === 'string' ? liquidity : '?') },
          ]}
        />
      )}
    </>
  );
}

function Protection({ shown: { protects, account } }: { readonly shown: SignalDocument }) {
  if (protects.length === 0) return null;
  return (
    <>
      <h2>What the relay did to keep its protection</h2>
      <ul class="plain">
        {protects.map(({ signalId, status, steps }) => (
          <li key={signalId}>
            <StatusBadge status={status} />{' '}
            <Link href={`/signals/${encodeURIComponent(account)}/${encodeURIComponent(signalId)}`}>
              {signalId}
            </Link>{' '}
            {steps.at(-1)?.note}
          </li>
        ))}
      </ul>
    </>
  );
}

const mayBeAgain: readonly Status[] = ['denied', 'dry_run', 'rejected', 'not_sent', 'not_placed', 'invalid'];

/** Only of what provably never became an order. */
function AgainButton({ shown: { account, signalId, status } }: { readonly shown: SignalDocument }) {
  if (about.value?.isReadOnly === true || !mayBeAgain.includes(status)) return null;
  async function offer(): Promise<void> {
    const { refusal, message, newId, check } = await read<AgainOffer>('/api/again', {
      account,
      id: signalId,
    });
    ask({
      title: 'Send it again as a new signal?',
      button: 'Send the new signal',
      isReady: () => refusal === null,
      says:
        refusal !== null ? (
          <p>It cannot be sent again: {refusal}.</p>
        ) : (
          <>
            <p>
              It never became an order. A new signal <code>{newId}</code>, which names this one, asks for the
              same now. Its id follows from this one: a second press places nothing.
            </p>
            <PreviewList check={check} />
            <pre>{message}</pre>
          </>
        ),
      run: async () => {
        await send('/api/again', { account, id: signalId });
        go(`/signals/${encodeURIComponent(account)}/${newId ?? ''}`);
        return `Sent again as ${newId}`;
      },
    });
  }
  return (
    <p>
      <button type="button" onClick={() => void offer()}>
        Send again …
      </button>
    </p>
  );
}
