import { useState } from 'preact/hooks';
import { failureOf, send } from '../calls.ts';
import type { ShownFailure } from '../documents.ts';
import { account } from '../state.ts';
import { Badge, FailureBox, Labelled } from './basics.tsx';
import { Table } from './table.tsx';

interface TranslationShown {
  readonly product: string;
  readonly isTaken: boolean;
  readonly message: string | null;
  readonly words: readonly { readonly theirs: string; readonly ours: string; readonly note: string }[];
  readonly missing: readonly string[];
  readonly advice: readonly string[];
}

/** Reads a message of another relay, as `relay translate` does, and shows ours beside it. */
export function ImportPanel({ use }: { use(message: string): void }) {
  const [theirs, setTheirs] = useState('');
  const [shown, setShown] = useState<TranslationShown | null>(null);
  const [failure, setFailure] = useState<ShownFailure | null>(null);

  async function translate(): Promise<void> {
    try {
      setShown(await send<TranslationShown>('/api/translate', { account: account.value, message: theirs }));
      setFailure(null);
    } catch (error) {
      setShown(null);
      setFailure(failureOf(error));
    }
  }

  return (
    <section class="card" aria-labelledby="import">
      <h2 id="import">From another relay</h2>
      <Labelled label="A message of TradersPost, 3Commas, WunderTrading, Alertatron, PineConnector, Autoview …">
        <textarea
          rows={5}
          spellcheck={false}
          value={theirs}
          onInput={(event) => setTheirs(event.currentTarget.value)}
        />
      </Labelled>
      <button type="button" disabled={theirs.trim() === ''} onClick={() => void translate()}>
        Read it
      </button>
      <FailureBox failure={failure} />
      {shown !== null && <Translated shown={shown} use={use} />}
    </section>
  );
}

function Translated({ shown, use }: { readonly shown: TranslationShown; use(message: string): void }) {
  const { product, isTaken, message, words, missing, advice } = shown;
  return (
    <div aria-live="polite">
      <p>
        This is <strong>{product}</strong>.{' '}
        {isTaken
          ? 'The relay takes it as it is; in full it says what stands below.'
          : message === null
            ? ''
            : 'Ours says the same:'}
      </p>
      {missing.map((text) => (
        <p key={text} class="note bad">
          Missing: {text}
        </p>
      ))}
      {advice.map((text) => (
        <p key={text} class="note waiting">
          First: {text}
        </p>
      ))}
      {message !== null && (
        <>
          <pre>{message}</pre>
          <button type="button" class="main" onClick={() => use(message)}>
            Use this message
          </button>
        </>
      )}
      {words.length > 0 && (
        <Table
          caption="Word by word"
          rows={words}
          keyOf={({ theirs, ours }) => theirs + ours}
          columns={[
            { title: 'there', cell: ({ theirs }) => <code>{theirs}</code> },
            { title: 'here', cell: ({ ours }) => (ours === '' ? '–' : <code>{ours}</code>) },
            { title: 'what differs', cell: ({ note }) => <Note text={note} /> },
          ]}
        />
      )}
    </div>
  );
}

function Note({ text }: { readonly text: string }) {
  const [, word, rest] = /^(LOST|DIFFERS): (.*)$/s.exec(text) ?? [];
  if (word === undefined) return <>{text}</>;
  return (
    <>
      <Badge tone={word === 'LOST' ? 'bad' : 'waiting'}>{word.toLowerCase()}</Badge> {rest}
    </>
  );
}
