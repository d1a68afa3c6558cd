import type { GuardShown, PositionShown, PositionsDocument } from '../command-documents.ts';
import { AccountChoice } from '../parts/account-choice.tsx';
import { Badge, Empty, FailureBox, FieldList, Link, Loading, Money } from '../parts/basics.tsx';
import { CloseButton, ProtectButton } from '../parts/position-actions.tsx';
import { RedButton } from '../parts/red-button.tsx';
import { about } from '../state.ts';
import { useAccountReading } from '../use-reading.ts';
import { showAge, showNumber, type Tone } from '../words.ts';

export function PositionsView() {
  const {
    document: shown,
    failure,
    isLoading,
    again,
  } = useAccountReading<PositionsDocument>('/api/positions');
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
  unread: ['not known yet', 'waiting'],
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
            {part === undefined ? '' : ` ${part}`} at{' '}
            {state === 'standing'
              ? describeStanding(standing)
              : `${showNumber(price)} for ${showNumber(amount)}`}
            <span class="faint">
              {state === 'standing'
                ? ''
                : ` · stands: ${standing.length > 0 ? describeStanding(standing) : 'nothing'}`}{' '}
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

/** `49000 for 0.01`: as the exchange has rounded it. */
function describeStanding(standing: GuardShown['standing']): string {
  return standing
    .map(
      ({ price, amount }) => `${showNumber(price)} for ${amount === null ? 'all of it' : showNumber(amount)}`,
    )
    .join(', ');
}
