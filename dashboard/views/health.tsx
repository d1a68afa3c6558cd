import { type Signal, signal } from '@preact/signals';
import { read, send } from '../calls.ts';
import type { AccountAbout, AccountHealth, CheckShown, HealthDocument } from '../documents.ts';
import { AccountChoice } from '../parts/account-choice.tsx';
import { Badge, Empty, FailureBox, Loading, TextEntry } from '../parts/basics.tsx';
import { ask } from '../parts/confirm.tsx';
import { Notices } from '../parts/notices.tsx';
import { RedButton } from '../parts/red-button.tsx';
import { Table } from '../parts/table.tsx';
import { about, account } from '../state.ts';
import { useReading } from '../use-reading.ts';
import { sendsNothing, showAge, showMoment, showTime, type Tone } from '../words.ts';

interface LimitShown {
  readonly name: string;
  readonly of: string | null;
  readonly limit: string;
  readonly used: string | null;
  readonly left: string | null;
  readonly unit: string | null;
  readonly denies: string | null;
}

interface LimitsDocument {
  readonly limits: readonly LimitShown[];
  readonly unknown: readonly string[];
}

const checkEveryMs = 30_000;
const verdictTones: Readonly<Record<CheckShown['verdict'], Tone>> = {
  ok: 'good',
  warn: 'waiting',
  fail: 'alarm',
};

export function HealthView() {
  const {
    document: health,
    failure,
    isLoading,
    again,
  } = useReading((signal) => read<HealthDocument>('/api/health', {}, signal), 'health', checkEveryMs);
  return (
    <>
      <h1>Health</h1>
      <div class="bar">
        <button type="button" onClick={again} disabled={isLoading}>
          {isLoading ? 'Checking …' : 'Check now'}
        </button>
        <RedButton done={again} />
      </div>
      <FailureBox failure={failure} />
      <Loading isLoading={isLoading && health === null} />
      {health !== null && (
        <>
          <Accounts health={health} again={again} />
          <Notices notices={health.notices} />
          <Checks health={health} again={again} />
          <Alarms health={health} />
        </>
      )}
      <Limits />
    </>
  );
}

function Checks({ health: { checks, atMs }, again }: { readonly health: HealthDocument; again(): void }) {
  const hasDead = checks.some(({ name, verdict }) => name === 'dead letters' && verdict === 'fail');
  return (
    <>
      <h2>Checks</h2>
      <Table
        caption={`Checks, as \`relay doctor\` makes them, at ${showTime(atMs)}`}
        rows={checks}
        keyOf={({ name, found }) => name + found}
        columns={[
          { title: 'verdict', cell: ({ verdict }) => <Badge tone={verdictTones[verdict]}>{verdict}</Badge> },
          { title: 'check', cell: ({ name }) => name },
          { title: 'found', cell: ({ found }) => found },
          { title: 'what to do', cell: ({ advice }) => advice ?? '' },
        ]}
      />
      {hasDead && about.value?.isReadOnly !== true && (
        <p class="buttons">
          <button
            type="button"
            onClick={() =>
              ask({
                title: 'Put the dead letters back in line?',
                says: (
                  <p>
                    Their signals are executed again: those that are not too old may place orders. Correct
                    first what made them fail.
                  </p>
                ),
                button: 'Put them back',
                isDangerous: true,
                run: async () => {
                  const { redriven } = await send<{ readonly redriven: readonly unknown[] }>(
                    '/api/redrive',
                    {},
                  );
                  return `${redriven.length} put back`;
                },
                done: again,
              })
            }
          >
            Put them back …
          </button>
        </p>
      )}
    </>
  );
}

function Accounts({ health: { accounts }, again }: { readonly health: HealthDocument; again(): void }) {
  const modes = new Map(about.value?.accounts.map(({ name, mode }) => [name, mode]));
  const isReadOnly = about.value?.isReadOnly === true;
  return (
    <Table
      caption="Accounts"
      rows={accounts}
      keyOf={({ account: name }) => name}
      columns={[
        { title: 'account', cell: ({ account: name }) => `${name} (${modes.get(name) ?? 'not configured'})` },
        {
          title: 'state',
          cell: ({ account: name, pause }) =>
            pause === null ? (
              describeRunning(modes.get(name))
            ) : (
              <>
                <Badge tone="waiting">paused</Badge> since {showTime(pause.sinceMs)}: {pause.reason}
              </>
            ),
        },
        { title: 'positions read', cell: ({ positionsReadAtMs }) => showAge(positionsReadAtMs) },
        { title: 'balances recorded', cell: ({ snapshotAtMs }) => showAge(snapshotAtMs) },
        ...(isReadOnly
          ? []
          : [{ title: 'change', cell: (row: AccountHealth) => <PauseButton row={row} again={again} /> }]),
      ]}
    />
  );
}

function describeRunning(mode: AccountAbout['mode'] | undefined) {
  return sendsNothing(mode, about.value?.isPaper === true) ? (
    <Badge tone="faint">sends nothing</Badge>
  ) : (
    <Badge tone="good">trades</Badge>
  );
}

function PauseButton({
  row: { account: name, pause },
  again,
}: {
  readonly row: AccountHealth;
  again(): void;
}) {
  if (pause !== null)
    return (
      <button
        type="button"
        onClick={() =>
          ask({
            title: `Resume ${name}?`,
            says: (
              <p>
                From the next signal on, {name} opens positions again. Signals that were denied meanwhile stay
                denied.
              </p>
            ),
            button: 'Resume',
            run: async () => {
              await send('/api/resume', { account: name });
              return `${name} is resumed`;
            },
            done: again,
          })
        }
      >
        Resume …
      </button>
    );
  function open(): void {
    const form = signal<PauseForm>({ reason: '', everything: false });
    ask({
      title: `Pause ${name}?`,
      says: <PauseSays name={name} form={form} />,
      button: 'Pause',
      run: async () => {
        const { reason, everything } = form.value;
        await send('/api/pause', { account: name, ...(reason === '' ? {} : { reason }), everything });
        return `${name} is paused`;
      },
      done: again,
    });
  }
  return (
    <button type="button" onClick={open}>
      Pause …
    </button>
  );
}

interface PauseForm {
  readonly reason: string;
  readonly everything: boolean;
}

function PauseSays({ name, form }: { readonly name: string; readonly form: Signal<PauseForm> }) {
  const { reason, everything } = form.value;
  return (
    <>
      <p>
        From the next signal on, {everything ? 'no order' : 'nothing that opens or enlarges a position'} of{' '}
        {name} is sent: such signals end as denied.{' '}
        {everything ? 'Closes are denied, too.' : 'Closes and reductions still go out.'} Cancellations are
        sent.
      </p>
      <TextEntry
        label="Reason"
        value={reason}
        placeholder="paused by the operator"
        change={(text) => {
          form.value = { ...form.value, reason: text };
        }}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={everything}
          onChange={(event) => {
            form.value = { ...form.value, everything: event.currentTarget.checked };
          }}
        />{' '}
        Stop everything, closes too
      </label>
    </>
  );
}

function Alarms({ health: { alarms } }: { readonly health: HealthDocument }) {
  return (
    <>
      <h2>Alarms</h2>
      {alarms === null && (
        <p class="faint">On AWS the alarms go to the alarm topic; the checks above show their state.</p>
      )}
      {alarms?.length === 0 && <Empty>None in the end of the log.</Empty>}
      {alarms !== null && alarms.length > 0 && (
        <Table
          caption="From the end of the log, newest first"
          rows={alarms}
          keyOf={({ atMs, name, message }) => `${atMs} ${name} ${message}`}
          columns={[
            { title: 'time', cell: ({ atMs }) => showMoment(atMs) },
            { title: 'alarm', cell: ({ name }) => <Badge tone="alarm">{name.replaceAll('_', ' ')}</Badge> },
            { title: 'what happened', cell: ({ message }) => message },
          ]}
        />
      )}
    </>
  );
}

function Limits() {
  const name = account.value;
  const { document: shown, failure } = useReading(
    (signal) => read<LimitsDocument>('/api/limits', { account: name }, signal),
    `limits ${name}`,
    checkEveryMs,
  );
  return (
    <>
      <h2>Limits of growing risk</h2>
      <div class="bar">
        <AccountChoice />
      </div>
      <FailureBox failure={failure} />
      {shown?.unknown.map((text) => (
        <p key={text} class="note alarm">
          Not known, so nothing may be opened: {text}.
        </p>
      ))}
      {shown?.limits.length === 0 && (
        <Empty>The account sets none. relay.config.example.ts explains them.</Empty>
      )}
      {shown !== null && shown.limits.length > 0 && (
        <Table
          caption="What is allowed, used and left"
          rows={shown.limits}
          keyOf={({ name: limit, of }) => limit + (of ?? '')}
          columns={[
            { title: 'limit', cell: ({ name: limit, of }) => `${limit}${of === null ? '' : ` of ${of}`}` },
            {
              title: 'allowed',
              align: 'right',
              cell: ({ limit, unit }) => `${limit}${unit === null ? '' : ` ${unit}`}`,
            },
            { title: 'used', align: 'right', cell: ({ used }) => used ?? '–' },
            { title: 'left', align: 'right', cell: ({ left }) => left ?? '–' },
            {
              title: 'now',
              cell: ({ denies }) =>
                denies === null ? (
                  <Badge tone="good">allows</Badge>
                ) : (
                  <>
                    <Badge tone="bad">denies</Badge> {denies}
                  </>
                ),
            },
          ]}
        />
      )}
    </>
  );
}
