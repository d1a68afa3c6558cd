import type { ComponentChildren } from 'preact';
import type { Status } from '../../lib/model/outcome.ts';
import type { ShownFailure } from '../documents.ts';
import { go } from '../state.ts';
import { showNumber, type Tone, toneOfStatus } from '../words.ts';

interface LinkProps {
  readonly href: string;
  readonly class?: string;
  readonly current?: boolean;
  readonly label?: string;
  readonly children: ComponentChildren;
}

/** A link within the page. A click with a modifier opens it as the browser does. */
export function Link({ href, class: kind, current, label, children }: LinkProps) {
  return (
    <a
      href={href}
      class={kind}
      aria-current={current === true ? 'page' : undefined}
      aria-label={label}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(href);
      }}
    >
      {children}
    </a>
  );
}

/** To a signal, by the beginning of its id. */
export function SignalLink({ account, signalId }: { readonly account: string; readonly signalId: string }) {
  if (signalId === '') return <>none of the relay</>;
  return (
    <Link href={`/signals/${encodeURIComponent(account)}/${encodeURIComponent(signalId)}`}>
      {signalId.slice(0, 18)}
    </Link>
  );
}

export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export function StatusBadge({ status }: { readonly status: Status }) {
  return <Badge tone={toneOfStatus(status)}>{status.replaceAll('_', ' ')}</Badge>;
}

/** What failed, why, and what to do. */
export function FailureBox({ failure }: { readonly failure: ShownFailure | null }) {
  if (failure === null) return null;
  return (
    <div class="note alarm" role="alert">
      <strong>{failure.message}</strong>
      {failure.issues.length > 0 && (
        <ul>
          {failure.issues.map(({ path, message, hint }) => (
            <li key={path + message}>
              {path === '' ? '' : `${path}: `}
              {message}
              {hint === '' ? '' : ` – ${hint}`}
            </li>
          ))}
        </ul>
      )}
      <p>{failure.action}</p>
    </div>
  );
}

/** Names and values; a value that is null is left out. */
export function FieldList({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }) {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return (
    <dl class="fields">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A document as it is, folded away. */
export function Folded({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <details>
      <summary>{title}</summary>
      <pre>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>
    </details>
  );
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

export function Loading({ isLoading }: { readonly isLoading: boolean }) {
  return isLoading ? <p class="empty">Reading …</p> : null;
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly children: ComponentChildren;
}

/** A control with its name above it. */
export function Labelled({ label, hint, children }: FieldProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is what it is given.
    <label class="field">
      <span>{label}</span>
      {children}
      {hint !== undefined && <small>{hint}</small>}
    </label>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly hint?: string;
  choose(value: string): void;
}

export function Choice({ label, value, options, hint, choose }: ChoiceProps) {
  return (
    <Labelled label={label} {...(hint === undefined ? {} : { hint })}>
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {options.map(([each, text]) => (
          <option key={each} value={each} selected={each === value}>
            {text}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

interface EntryProps {
  readonly label: string;
  readonly value: string;
  readonly type?: 'text' | 'date' | 'search';
  readonly placeholder?: string;
  readonly hint?: string;
  change(value: string): void;
}

export function TextEntry({ label, value, type = 'text', placeholder, hint, change }: EntryProps) {
  return (
    <Labelled label={label} {...(hint === undefined ? {} : { hint })}>
      <input
        {...({ type } as { readonly type: 'text' })}
        value={value}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => change(event.currentTarget.value)}
      />
    </Labelled>
  );
}

/** A profit or a loss in its colour; nothing gained is neither. */
export function Money({ text }: { readonly text: string | null }) {
  if (text === null) return <>–</>;
  const tone = Number(text) === 0 ? '' : text.startsWith('-') ? 'loss' : 'profit';
  return <span class={tone}>{showNumber(text, 4)}</span>;
}
