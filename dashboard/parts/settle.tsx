import { useState } from 'preact/hooks';
import { failureOf, send } from '../calls.ts';
import type { ShownFailure } from '../documents.ts';
import { about, doneCount, tell } from '../state.ts';
import { Choice, FailureBox, TextEntry } from './basics.tsx';
import { ask } from './confirm.tsx';

interface Resolved {
  readonly result: 'settled' | 'was_settled' | 'open_question';
  readonly finding: string | null;
  readonly alarms: readonly string[];
  readonly entry: { readonly status: string };
}

interface SettleProps {
  readonly account: string;
  readonly id: string;
  again(): void;
}

/** Settles a signal of unknown outcome, as `relay resolve` does. */
export function SettlePanel({ account, id, again }: SettleProps) {
  const [finding, setFinding] = useState<string | null>(null);
  const [failure, setFailure] = useState<ShownFailure | null>(null);
  const [isLooking, setLooking] = useState(false);
  const [saw, setSaw] = useState('placed');
  const [note, setNote] = useState('');
  if (about.value?.isReadOnly === true) return null;

  async function resolve(how: string, extra: object = {}): Promise<string> {
    const {
      result,
      finding: found,
      entry,
      alarms,
    } = await send<Resolved>('/api/resolve', { account, id, how, ...extra });
    setFinding([found, ...alarms].filter((text) => text !== null).join('; '));
    again();
    doneCount.value += 1;
    return result === 'open_question' ? 'It is still unknown' : `It is settled as ${entry.status}`;
  }

  async function look(): Promise<void> {
    setLooking(true);
    setFailure(null);
    await resolve('look').then(tell, (error: unknown) => setFailure(failureOf(error)));
    setLooking(false);
  }

  return (
    <section class="card alarm" aria-labelledby="settle">
      <h2 id="settle">Settle it</h2>
      <p>
        It was sent, and the answer was lost. The relay looks the order up by itself; here you can do it now.
      </p>
      <FailureBox failure={failure} />
      {finding !== null && finding !== '' && <p class="note waiting">{finding}</p>}
      <p class="buttons">
        <button type="button" class="main" disabled={isLooking} onClick={() => void look()}>
          {isLooking ? 'Looking …' : 'Look it up now'}
        </button>
        <button
          type="button"
          onClick={() =>
            ask({
              title: 'Cancel its order?',
              says: (
                <p>
                  A cancellation by the client order id goes to the exchange. If the exchange confirms it, the
                  order existed, and is cancelled.
                </p>
              ),
              button: 'Cancel the order',
              isDangerous: true,
              run: () => resolve('cancel'),
            })
          }
        >
          Cancel its order …
        </button>
      </p>
      <details>
        <summary>I saw at the exchange what became of it</summary>
        <div class="row">
          <Choice
            label="It is"
            value={saw}
            options={[
              ['placed', 'placed'],
              ['cancelled', 'cancelled'],
              ['rejected', 'rejected'],
              ['not_placed', 'not placed'],
            ]}
            choose={setSaw}
          />
          <TextEntry
            label="Where and when you saw it"
            value={note}
            change={setNote}
            placeholder="order history, 14:05"
          />
          <button
            type="button"
            disabled={note.trim() === ''}
            onClick={() =>
              ask({
                title: 'Record what you saw?',
                says: (
                  <p>
                    The ledger records that it is <strong>{saw.replace('_', ' ')}</strong>, with your note.
                    Nothing is sent to the exchange. A wrong record stays: look twice.
                  </p>
                ),
                button: 'Record it',
                isDangerous: true,
                run: () => resolve(saw, { note }),
              })
            }
          >
            Record …
          </button>
        </div>
      </details>
    </section>
  );
}
