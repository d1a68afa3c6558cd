import { type Signal, signal } from '@preact/signals';
import { send } from '../calls.ts';
import type { PositionShown } from '../command-documents.ts';
import { about } from '../state.ts';
import { showNumber } from '../words.ts';
import { TextEntry } from './basics.tsx';
import { ask } from './confirm.tsx';

interface ActionProps {
  /** Of the account. */
  readonly name: string;
  readonly position: PositionShown;
  /** Called when it was done. */
  again(): void;
}

interface Outcome {
  readonly signalId: string;
  readonly status: string;
  readonly note: string;
}

/** The position that is meant, in hedge mode. */
function sideOf({ positionSide }: PositionShown) {
  return positionSide === 'BOTH' ? {} : { side: positionSide.toLowerCase() };
}

/** The fields that say something. */
function said(fields: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

interface CloseForm {
  readonly part: string;
  readonly maxSlippage: string;
}

/** Closes a position, or a part of it, as `relay close` does. */
export function CloseButton({ name, position, again }: ActionProps) {
  const { market } = position;
  const needsSlippage = about.value?.accounts.find((each) => each.name === name)?.needsSlippage === true;
  function open(): void {
    const form = signal<CloseForm>({ part: '', maxSlippage: needsSlippage ? '0.5%' : '' });
    ask({
      title: `Close the position in ${market}?`,
      says: <CloseSays name={name} position={position} form={form} needsSlippage={needsSlippage} />,
      button: 'Close it',
      isDangerous: true,
      run: async () => {
        const asked = { account: name, market, ...said({ ...form.value }), ...sideOf(position) };
        const { status, note } = await send<Outcome>('/api/close', asked);
        return `${market}: ${status}: ${note}`;
      },
      done: again,
    });
  }
  return (
    <button type="button" onClick={open}>
      Close …
    </button>
  );
}

interface CloseSaysProps extends Pick<ActionProps, 'name' | 'position'> {
  readonly form: Signal<CloseForm>;
  readonly needsSlippage: boolean;
}

function CloseSays({ name, position: { market, amount }, form, needsSlippage }: CloseSaysProps) {
  const { part, maxSlippage } = form.value;
  const trades = amount.startsWith('-') ? 'buys' : 'sells';
  const much =
    part === '' ? showNumber(amount.replace('-', '')) : `${part} of ${showNumber(amount.replace('-', ''))}`;
  return (
    <>
      <p>
        The alert <code>{'{"action": "close"}'}</code> goes to the relay for {market} of account {name}: a
        market order that {trades} {much} and only reduces.
        {part === ''
          ? ` The stop-loss, the take-profit and the entries of the relay that rest in ${market} are cancelled.`
          : ' What protects the position is fitted to the rest.'}
      </p>
      <fieldset class="row">
        <legend>How much</legend>
        {['', '25%', '50%', '75%'].map((each) => (
          <label key={each}>
            <input
              type="radio"
              name="part"
              checked={part === each}
              onChange={() => {
                form.value = { ...form.value, part: each };
              }}
            />{' '}
            {each === '' ? 'all of it' : each}
          </label>
        ))}
      </fieldset>
      {needsSlippage && (
        <TextEntry
          label="Most slippage"
          value={maxSlippage}
          hint="The account names none, so the order must."
          change={(value) => {
            form.value = { ...form.value, maxSlippage: value.trim() };
          }}
        />
      )}
    </>
  );
}

interface Wish {
  readonly stopLoss: string;
  readonly takeProfit: string;
  readonly trailing: string;
}

/** Changes what protects a position, as `relay protect` does. */
export function ProtectButton({ name, position, again }: ActionProps) {
  const { market } = position;
  function open(): void {
    const wish = signal<Wish>({ stopLoss: '', takeProfit: '', trailing: '' });
    ask({
      title: `Change what protects ${market}?`,
      says: (
        <>
          <p>
            The alert <code>{'{"action": "protect"}'}</code> goes to the relay for {market} of account {name}.
            The relay places what is missing with orders that only reduce, and then cancels what they take the
            place of. What is left empty stays.
          </p>
          <Wishes wish={wish} />
        </>
      ),
      button: 'Change it',
      run: async () => {
        const { takeProfit, ...single } = wish.value;
        const prices = takeProfit.split(/[,\s]+/).filter((each) => each !== '');
        const parts = prices.length === 0 ? {} : { takeProfit: prices };
        const asked = { account: name, market, ...said(single), ...parts, ...sideOf(position) };
        const { status, note } = await send<Outcome>('/api/protect', asked);
        return `${market}: ${status}: ${note}`;
      },
      done: again,
    });
  }
  return (
    <button type="button" onClick={open}>
      Protect …
    </button>
  );
}

const wishFields = [
  ['stopLoss', 'Stop-loss', '49000, 2% or entry'],
  ['takeProfit', 'Take-profit', '52000, or 51000=50% 52000=50%'],
  ['trailing', 'Trailing', '1.5%'],
] as const;

function Wishes({ wish }: { readonly wish: Signal<Wish> }) {
  return (
    <div class="row">
      {wishFields.map(([name, label, example]) => (
        <TextEntry
          key={name}
          label={label}
          value={wish.value[name]}
          placeholder={example}
          change={(value) => {
            wish.value = { ...wish.value, [name]: value.trim() };
          }}
        />
      ))}
    </div>
  );
}
