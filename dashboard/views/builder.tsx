import { useEffect, useState } from 'preact/hooks';
import { failureOf, send } from '../calls.ts';
import type { MessageCheck, ShownFailure } from '../documents.ts';
import { AccountChoice } from '../parts/account-choice.tsx';
import { FailureBox, Labelled, Link } from '../parts/basics.tsx';
import { BuilderForm } from '../parts/builder-form.tsx';
import { ask } from '../parts/confirm.tsx';
import { ImportPanel } from '../parts/import-panel.tsx';
import { PreviewList } from '../parts/preview.tsx';
import { about, account, tell } from '../state.ts';
import { type AlertForm, emptyForm, writeAlertMessage } from '../write-message.ts';

export function BuilderView() {
  const [form, setForm] = useState<AlertForm>(emptyForm);
  const [message, setMessage] = useState(() => writeAlertMessage(emptyForm));
  const relay = about.value?.accounts.find(({ name }) => name === account.value);
  const tickers = relay?.markets.flatMap((market) => market.tickers) ?? [];
  // Without a ticker in the message the chart gives it; here one stands for the chart's.
  const sample = form.ticker === '' ? (tickers[0] ?? '') : form.ticker;
  const { check, failure, isCurrent } = useCheck(message, sample);

  function change(next: AlertForm): void {
    setForm(next);
    setMessage(writeAlertMessage(next));
  }

  return (
    <>
      <h1>Alert builder</h1>
      <div class="bar">
        <AccountChoice />
      </div>
      <div class="columns">
        <div>
          <BuilderForm form={form} tickers={tickers} change={change} />
          <ImportPanel use={setMessage} />
        </div>
        <div>
          <MessageBox message={message} setMessage={setMessage} />
          <FailureBox failure={failure} />
          <section aria-live="polite" aria-labelledby="becomes">
            <h2 id="becomes">What it becomes</h2>
            <p class="faint">
              With sample values in place of placeholders: {sample}, the last price, a strategy that buys.
            </p>
            <PreviewList check={check} />
          </section>
          <TryButton message={message} sample={sample} check={isCurrent ? check : null} />
          <WebhookPanel />
        </div>
      </div>
    </>
  );
}

const checkAfterMs = 400;

/** What the relay's own reader says of the message, a moment after it was changed. */
function useCheck(message: string, ticker: string) {
  const [check, setCheck] = useState<MessageCheck | null>(null);
  const [failure, setFailure] = useState<ShownFailure | null>(null);
  const name = account.value;
  const key = JSON.stringify([name, ticker, message]);
  const [checkedKey, setCheckedKey] = useState('');
  useEffect(() => {
    let isOld = false;
    function show(result: MessageCheck | null, fault: ShownFailure | null): void {
      if (isOld) return;
      setCheck(result);
      setFailure(fault);
      setCheckedKey(key);
    }
    const timer = setTimeout(() => {
      if (message.trim() === '') return show(null, null);
      send<MessageCheck>('/api/check', { account: name, message, ...(ticker === '' ? {} : { ticker }) }).then(
        (result) => show(result, null),
        (error: unknown) => show(null, failureOf(error)),
      );
    }, checkAfterMs);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [key]);
  // The last one stays in sight while a person types; but what was not read must not be sent.
  return { check, failure, isCurrent: checkedKey === key };
}

function MessageBox({
  message,
  setMessage,
}: {
  readonly message: string;
  setMessage(message: string): void;
}) {
  return (
    <section aria-labelledby="message">
      <h2 id="message">The message to paste</h2>
      <Labelled label="Into the message box of the alert in TradingView">
        <textarea
          rows={Math.min(24, message.split('\n').length + 1)}
          spellcheck={false}
          value={message}
          onInput={(event) => setMessage(event.currentTarget.value)}
        />
      </Labelled>
      <CopyButton text={message} what="message" />
    </section>
  );
}

function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <button
      type="button"
      onClick={() =>
        navigator.clipboard.writeText(text).then(
          () => tell(`The ${what} is copied`),
          () => tell(`The browser does not let the page copy: select the ${what} and copy it`),
        )
      }
    >
      Copy the {what}
    </button>
  );
}

interface TryProps {
  readonly message: string;
  readonly sample: string;
  readonly check: MessageCheck | null;
}

interface Tried {
  readonly account: string;
  readonly signals: readonly { readonly signalId: string; readonly status: string }[];
}

function TryButton({ message, sample, check }: TryProps) {
  const [tried, setTried] = useState<Tried | null>(null);
  const relay = about.value?.accounts.find(({ name }) => name === account.value);
  if (about.value?.isReadOnly === true) return null;
  if (relay?.isSafe !== true)
    return (
      <p class="faint">
        Account {account.value} trades real money: try the message with an account in paper or dry-run mode.
      </p>
    );
  return (
    <>
      <p class="buttons">
        <button
          type="button"
          class="main"
          disabled={check === null || check.issues.length > 0}
          onClick={() =>
            ask({
              title: 'Try it?',
              says: (
                <>
                  <p>
                    The message goes to the webhook of account {account.value}, with the sample values, as
                    TradingView would send it. No real money moves: the account is in {relay.mode} mode
                    {about.value?.isPaper === true ? ', on the paper exchange' : ''}.
                  </p>
                  <pre>{check?.filled}</pre>
                </>
              ),
              button: 'Send it',
              run: async () => {
                const result = await send<Tried>('/api/try', {
                  account: account.value,
                  message,
                  ticker: sample,
                });
                setTried(result);
                return `Sent: ${result.signals.map(({ signalId, status }) => `${signalId} is ${status}`).join(', ')}`;
              },
            })
          }
        >
          Try it …
        </button>
      </p>
      {tried !== null && (
        <p class="note good">
          Taken:{' '}
          {tried.signals.map(({ signalId }) => (
            <Link
              key={signalId}
              href={`/signals/${encodeURIComponent(tried.account)}/${encodeURIComponent(signalId)}`}
            >
              {signalId}
            </Link>
          ))}
        </p>
      )}
    </>
  );
}

interface Webhook {
  readonly url: string;
  readonly hint: string;
}

/** The URL holds the token, so it is fetched when it is asked for, and forgotten with the view. */
function WebhookPanel() {
  const [webhook, setWebhook] = useState<Webhook | null>(null);
  const [failure, setFailure] = useState<ShownFailure | null>(null);
  const name = account.value;
  useEffect(() => setWebhook(null), [name]);
  if (about.value?.isReadOnly === true) return null;
  return (
    <section aria-labelledby="webhook">
      <h2 id="webhook">The webhook URL</h2>
      <p class="faint">
        Whoever has it can trade on account {name}: it is a secret, and stays out of the message.
      </p>
      <FailureBox failure={failure} />
      {webhook === null ? (
        <button
          type="button"
          onClick={() =>
            void send<Webhook>('/api/webhook', { account: name }).then(setWebhook, (error: unknown) =>
              setFailure(failureOf(error)),
            )
          }
        >
          Show it
        </button>
      ) : (
        <>
          <pre>{webhook.url}</pre>
          <p class="buttons">
            <CopyButton text={webhook.url} what="URL" />
            <button type="button" onClick={() => setWebhook(null)}>
              Hide it
            </button>
          </p>
          <p>{webhook.hint}</p>
        </>
      )}
    </section>
  );
}
