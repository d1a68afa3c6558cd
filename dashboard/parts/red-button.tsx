import { failureOf, read, send } from '../calls.ts';
import type { PositionsDocument } from '../command-documents.ts';
import { about } from '../state.ts';
import { showNumber } from '../words.ts';
import { ask } from './confirm.tsx';

interface Stopped {
  readonly closes: readonly { readonly market: string; readonly status: string | null }[];
  /** What is held on spot, which is no position. */
  readonly coins: readonly { readonly market: string; readonly amount: string }[];
  /** What could not be read, each with the reason. */
  readonly notLookedAt: readonly string[];
}

/** Pauses every account and closes every position; coins on spot stay. */
export function RedButton({ done }: { done(): void }) {
  const relay = about.value;
  if (relay === null || relay.isReadOnly) return null;
  const names = relay.accounts.map(({ name }) => name);
  const trading = relay.accounts.filter(({ mode }) => mode !== 'dry-run').map(({ name }) => name);

  async function prepare(): Promise<void> {
    const found = await Promise.all(trading.map(describeOpen));
    ask({
      title: 'Stop everything?',
      isDangerous: true,
      button: 'Pause and close everything',
      says: (
        <>
          <p>
            First {names.join(', ')} {names.length === 1 ? 'is' : 'are'} paused: nothing opens or enlarges a
            position until you resume. Then these go out, each with a market order that only reduces, and what
            protects them is cancelled with the entries that rest:
          </p>
          <ul>
            {found.flat().map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </>
      ),
      run: async () => {
        const { closes, coins, notLookedAt } = await send<Stopped>('/api/stop', {});
        const closed =
          closes.length === 0
            ? 'Paused. No position was open'
            : `Paused. ${closes.map(({ market, status }) => `${market}: ${describeStatus(status)}`).join(', ')}`;
        const held = coins.map(({ market, amount }) => `${showNumber(amount)} in ${market}`);
        return [
          `${closed}.`,
          ...(held.length === 0 ? [] : [`Coins on spot are not sold: ${held.join(', ')}.`]),
          ...notLookedAt.map((text) => `Not looked at: ${text}.`),
        ].join(' ');
      },
      done,
    });
  }

  return (
    <button type="button" class="danger" onClick={() => void prepare()}>
      Pause and close everything …
    </button>
  );
}

function describeStatus(status: string | null): string {
  const isUnderWay = status === 'accepted' || status === 'sending';
  return isUnderWay ? `still under way, so not surely closed (${status})` : (status ?? 'refused');
}

async function describeOpen(name: string): Promise<readonly string[]> {
  try {
    const { positions } = await read<PositionsDocument>('/api/positions', { account: name });
    if (positions.length === 0)
      return [
        `${name}: no position is open; its entries that rest are cancelled, and what has just been sent is closed`,
      ];
    return positions.map(
      ({ market, amount }) =>
        `${name}: ${amount.startsWith('-') ? 'buy' : 'sell'} ${showNumber(amount.replace('-', ''))} in ${market}`,
    );
  } catch (error) {
    return [`${name}: its positions cannot be read now (${failureOf(error).message})`];
  }
}
