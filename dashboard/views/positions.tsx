import { useState } from 'preact/hooks';
import { read, send } from '../calls.ts';
import type { GuardShown, PositionShown, PositionsDocument } from '../command-documents.ts';
import { AccountChoice } from '../parts/account-choice.tsx';
import { Badge, Empty, FailureBox, FieldList, Link, Loading, Money, TextEntry } from '../parts/basics.tsx';
import { ask } from '../parts/confirm.tsx';
import { RedButton } from '../parts/red-button.tsx';
import { about, account } from '../state.ts';
import { useReading } from '../use-reading.ts';
import { showAge, showNumber, type Tone } from '../words.ts';

export function PositionsView() {
  const name = account.value;
  const {
    document: shown,
    failure,
    isLoading,
    again,
  } = useReading(
    (signal) => read<PositionsDocument>('/api/positions', { account: name }, signal),
    name,
    Math.max(3_000, about.value?.refreshMs ?? 0),
  );
  return (
    <>
      <h1>Positions</h1>
      <div class="bar">
        <AccountChoice />
        <RedButton done={again} />
      </div>
      <FailureBox failure={failure} />
      <Loading isLoading={isLoading && shown === null} />
      {shown !== null && <List shown={shown} again={again} />}
    </>
  );
}

function List({ shown, again }: { readonly shown: PositionsDocument; again(): void }) {
  return (
    <>
      {shown.failure !== null && (
        <p class="note alarm" role="alert">
          <strong>Old:</strong> the exchange cannot be read now ({shown.failure}). This is what the relay read{' '}
          {showAge(shown.readAtMs)}.
        </p>
      )}
      {shown.unknown.map((sentence) => (
        <p key={sentence} class="note alarm">
          Incomplete: {sentence}.
        </p>
      ))}
      {shown.positions.length === 0 && <Empty>No open positions.</Empty>}
      {shown.positions.map((position) => (
        <Position key={position.positionId} name={shown.account} position={position} again={again} />
      ))}
    </>
  );
}

interface PositionProps {
  readonly name: string;
  readonly position: PositionShown;
  again(): void;
}

function Position({ name, position, again }: PositionProps) {
  const { market, amount, basePrice, floatingProfit, liquidationPrice, liquidationState, lastPrice } =
    position;
  const isLong = !amount.startsWith('-');
  return (
    <article class="card" aria-label={`Position in ${market}`}>
      <h2>
        {market} <Badge tone={isLong ? 'good' : 'bad'}>{isLong ? 'long' : 'short'}</Badge>
        {position.positionSide !== 'BOTH' && <Badge tone="faint">hedge mode</Badge>}
        {liquidationState !== null && <Badge tone="alarm">{liquidationState.replace('_', ' ')}</Badge>}
      </h2>
      <FieldList
        rows={[
          ['amount', showNumber(amount)],
          ['entry price', showNumber(basePrice)],
          ['last price', showNumber(lastPrice)],
          ['floating profit', <Money key="profit" text={floatingProfit} />],
          ['liquidation price', liquidationPrice === null ? null : showNumber(liquidationPrice)],
          ['strategy', position.strategies.join(', ')],
        ]}
      />
      <Guards name={name} position={position} />
      {about.value?.isReadOnly !== true && (
        <p class="buttons">
          <CloseButton name={name} position={position} again={again} />
          <ProtectButton name={name} position={position} again={again} />
          <Link class="button" href={`/price?market=${market}`}>
            Price
          </Link>
        </p>
      )}
    </article>
  );
}

const stateWords: Readonly<Record<GuardShown['state'], readonly [string, Tone]>> = {
  standing: ['stands', 'good'],
  missing: ['MISSING', 'alarm'],
  changing: ['is being changed', 'waiting'],
  ended: ['ended by hand', 'faint'],
  unread: ['not known', 'waiting'],
  by_hand: ['another stop stands', 'faint'],
};

/** What should protect the position, beside what does. */
function Guards({
  name,
  position: { protection, stops, isStopAwaited },
}: Pick<PositionProps, 'name' | 'position'>) {
  if (protection === null || protection.guards.length === 0) {
    const isKnown = stops.length > 0;
    return (
      <p class={isKnown || isStopAwaited ? 'faint' : 'note waiting'}>
        {isKnown
          ? `${stops.length} stop-loss of the relay stands.`
          : isStopAwaited
            ? 'Its stop-loss is being read.'
            : 'No stop-loss that this relay placed is known to be open.'}
      </p>
    );
  }
  return (
    <ul class="guards" aria-label="Protection: what should stand, and what does">
      {protection.guards.map(({ of, role, part, price, amount, state, standing }) => {
        const [word, tone] = stateWords[state];
        return (
          <li key={`${of} ${role} ${part ?? ''}`}>
            <Badge tone={tone}>{word}</Badge> {role.replace('_', '-')}
            {part === undefined ? '' : ` ${part}`} at {showNumber(price)} for {showNumber(amount)}
            <span class="faint">
              {' '}
              · stands:{' '}
              {standing.map((one) => `${showNumber(one.amount)} at ${showNumber(one.price)}`).join(', ') ||
                'nothing'}{' '}
              · of{' '}
              <Link href={`/signals/${encodeURIComponent(name)}/${encodeURIComponent(of)}`}>
                {of.slice(0, 20)}
              </Link>
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function sideOf({ positionSide }: PositionShown): 'long' | 'short' | undefined {
  return positionSide === 'BOTH' ? undefined : (positionSide.toLowerCase() as 'long' | 'short');
}

interface Closed {
  readonly signalId: string;
  readonly status: string;
  readonly note: string;
}

function CloseButton({ name, position, again }: PositionProps) {
  const [part, setPart] = useState('');
  const { market, amount } = position;
  const isLong = !amount.startsWith('-');
  const trades = isLong ? 'sells' : 'buys';
  return (
    <button
      type="button"
      onClick={() =>
        ask({
          title: `Close the position in ${market}?`,
          says: (
            <>
              <p>
                The alert <code>{`{"action": "close"}`}</code> goes to the relay for {market} of account{' '}
                {name}: a market order that {trades} {showNumber(amount.replace('-', ''))} and only reduces.
                With a whole close the stop-loss, the take-profit and the entries of the relay that rest in{' '}
                {market} are cancelled.
              </p>
              <PartChoice change={setPart} />
            </>
          ),
          button: 'Close it',
          isDangerous: true,
          run: async () => {
            const side = sideOf(position);
            const body = {
              account: name,
              market,
              ...(partNow === '' ? {} : { part: partNow }),
              ...(side ? { side } : {}),
            };
            const { status, note } = await send<Closed>('/api/close', body);
            return `${market}: ${status}: ${note}`;
          },
          done: again,
        })
      }
    >
      Close …{part === '' ? '' : ` (${part})`}
    </button>
  );
}

/** Outside the component: the dialog reads it when its button is pressed. */
let partNow = '';

function PartChoice({ change }: { change(part: string): void }) {
  const [part, setPart] = useState('');
  partNow = part;
  return (
    <fieldset class="row">
      <legend>How much</legend>
      {['', '25%', '50%', '75%'].map((each) => (
        <label key={each}>
          <input
            type="radio"
            name="part"
            checked={part === each}
            onChange={() => {
              setPart(each);
              change(each);
            }}
          />{' '}
          {each === '' ? 'all of it' : each}
        </label>
      ))}
    </fieldset>
  );
}

let wishNow = { stopLoss: '', takeProfit: '', trailing: '' };

function ProtectButton({ name, position, again }: PositionProps) {
  const { market } = position;
  return (
    <button
      type="button"
      onClick={() =>
        ask({
          title: `Change what protects ${market}?`,
          says: (
            <>
              <p>
                The alert <code>{`{"action": "protect"}`}</code> goes to the relay for {market} of account{' '}
                {name}. The relay places what is missing with orders that only reduce, and then cancels what
                they take the place of. What is left empty stays.
              </p>
              <Wishes />
            </>
          ),
          button: 'Change it',
          run: async () => {
            const { stopLoss, takeProfit, trailing } = wishNow;
            const side = sideOf(position);
            const { status, note } = await send<Closed>('/api/protect', {
              account: name,
              market,
              ...(stopLoss === '' ? {} : { stopLoss }),
              ...(takeProfit === ''
                ? {}
                : { takeProfit: takeProfit.split(/[,\s]+/).filter((each) => each !== '') }),
              ...(trailing === '' ? {} : { trailing }),
              ...(side === undefined ? {} : { side }),
            });
            return `${market}: ${status}: ${note}`;
          },
          done: again,
        })
      }
    >
      Protect …
    </button>
  );
}

function Wishes() {
  const [wish, setWish] = useState({ stopLoss: '', takeProfit: '', trailing: '' });
  wishNow = wish;
  const set = (field: keyof typeof wish) => (value: string) => setWish({ ...wish, [field]: value.trim() });
  return (
    <div class="row">
      <TextEntry
        label="Stop-loss"
        value={wish.stopLoss}
        placeholder="49000, 2% or entry"
        change={set('stopLoss')}
      />
      <TextEntry
        label="Take-profit"
        value={wish.takeProfit}
        placeholder="52000, or 51000=50% 52000=50%"
        change={set('takeProfit')}
      />
      <TextEntry label="Trailing" value={wish.trailing} placeholder="1.5%" change={set('trailing')} />
    </div>
  );
}
