import { describe, expect, test } from '@jest/globals';
import { type Decimal, minimum, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Guard } from '../../lib/protection/guards.ts';
import { type GuardVerdict, judgeGuard } from '../../lib/protection/judge-guard.ts';
import type { StandingExit } from '../../lib/protection/known-exits.ts';

/**
 * Every state of one guard, by what is wanted, what stands and what is known of it; and where its acts lead. Amounts are
 * whole units, and an order has at least one.
 */
const steps = { amountStep: parseDecimal('1'), minAmount: parseDecimal('1') };
const price = parseDecimal('48000');
const amounts = ['0', '1', '2'].map(parseDecimal);

interface Kind {
  readonly remaining: string | null;
  readonly onlyReduces: boolean;
  readonly isTriggered: boolean;
  readonly isLeaving: boolean;
}

const moods = [
  { isTriggered: false, isLeaving: false },
  { isTriggered: true, isLeaving: false },
  { isTriggered: false, isLeaving: true },
];

const kinds: readonly Kind[] = [null, '1', '2'].flatMap((remaining) =>
  [true, false].flatMap((onlyReduces) => moods.map((mood) => ({ remaining, onlyReduces, ...mood }))),
);

function exitOf({ remaining, ...kind }: Kind, orderId: number): StandingExit {
  const amount = remaining === null ? null : parseDecimal(remaining);
  return { ...kind, orderId, remaining: amount, price, isMade: !kind.onlyReduces };
}

const standings: readonly (readonly StandingExit[])[] = [
  [],
  ...kinds.map((kind) => [exitOf(kind, 1)]),
  ...kinds.flatMap((one) => kinds.map((other) => [exitOf(one, 1), exitOf(other, 2)])),
];

interface State {
  readonly guard: Guard;
}

const states: readonly State[] = (['stop_loss', 'take_profit'] as const).flatMap((role) =>
  amounts.flatMap((amount) =>
    standings.flatMap((standing) =>
      ([null, 'unlisted', 'awaited', 'paired', 'shared'] as const).flatMap((doubt) =>
        [true, false].flatMap((isReleased) =>
          ['0', '1', '2'].map((hand) => ({
            guard: {
              of: 'entry-1',
              role,
              side: 'sell' as const,
              price,
              leeway: null,
              amount,
              record: null,
              standing,
              doubt,
              isReleased,
              beside: zero,
              byHand: role === 'stop_loss' ? parseDecimal(hand) : zero,
            },
          })),
        ),
      ),
    ),
  ),
);

/**
 * What each request of a verdict leaves, one after the other: the relay may be killed after any of them. A stop-loss stands
 * before the old ones go, and whatever else can fill stands after they have gone.
 */
function requestsOf({ guard }: State, verdict: GuardVerdict): readonly ((state: State) => State)[] {
  if (verdict.kind === 'fits') return [];
  const cancels = verdict.cancels.map((id) => ({ guard: before }: State): State => {
    const standing = before.standing.filter(({ orderId }) => orderId !== id);
    return { guard: { ...before, standing } };
  });
  switch (verdict.kind) {
    case 'cancel':
      return cancels;
    case 'stuck': {
      const sell = ({ guard: before }: State): State => ({
        guard: { ...before, amount: before.amount.minus(verdict.amount) },
      });
      return [...cancels, sell];
    }
    case 'place': {
      const kind = { remaining: verdict.amount.toFixed(), onlyReduces: true, ...waiting };
      const place = ({ guard: before }: State): State => ({
        guard: { ...before, standing: [...before.standing, exitOf(kind, newId)] },
      });
      return guard.role === 'stop_loss' ? [place, ...cancels] : [...cancels, place];
    }
  }
}

const newId = 9;
const waiting = { isTriggered: false, isLeaving: false };

/** The states after each request of the act that a state leads to, the last one after all of them. */
function actingFrom(state: State): readonly State[] {
  let now = state;
  return requestsOf(state, judge(state)).map((request) => {
    now = request(now);
    return now;
  });
}

const judge = ({ guard }: State) => judgeGuard(guard, steps);

function settle(state: State): State {
  let now = state;
  for (let acts = 0; acts < 3; acts += 1) {
    const after = actingFrom(now).at(-1);
    if (after === undefined) return now;
    now = after;
  }
  throw new Error(`it does not come to rest: ${JSON.stringify(state)}`);
}

/** What an order may sell of a position of that size. */
const soldBy = ({ remaining }: StandingExit, size: Decimal) => remaining ?? size;

function sumOf(exits: readonly StandingExit[], size: Decimal): Decimal {
  return exits.reduce((sum, exit) => sum.plus(soldBy(exit, size)), zero);
}

/** How much of what is left orders that wait would sell. */
function coveredIn({ guard: { standing, amount } }: State): Decimal {
  const ready = standing.filter(({ isTriggered }) => !isTriggered);
  return minimum(sumOf(ready, amount), amount);
}

const known = states.filter(({ guard }) => guard.doubt === null);

function sellsTooMuch({ guard: { standing, amount } }: State): boolean {
  return sumOf(standing, amount).gt(amount);
}

/** Whether a part is not protected, and the owner has not ended what protected it. */
function isBare(state: State, first: State): boolean {
  const isLeft = first.guard.isReleased && first.guard.standing.length === 0;
  return !isLeft && coveredIn(state).lt(wantedOf(state));
}

/** What stops of others do not protect. */
function wantedOf({ guard: { amount, byHand } }: State): Decimal {
  return amount.minus(minimum(byHand, amount));
}

/** Whether less is protected after a request than before the act, and less than should be. */
function hasGap(state: State): boolean {
  const least = minimum(coveredIn(state), wantedOf(state));
  return actingFrom(state).some((after) => coveredIn(after).lt(least));
}

/** Whether the new one stands beside an old one. */
function sellsTwice(state: State): boolean {
  return actingFrom(state).some(
    ({ guard: { standing } }) => standing.length > 1 && standing.some(({ orderId }) => orderId === newId),
  );
}

describe('Every state of a guard', () => {
  test('is enumerated', () => {
    expect(states).toHaveLength(2 * 3 * (1 + 18 + 324) * 5 * 2 * 3);
  });

  test('comes to rest after three acts at most', () => {
    expect(states.filter((state) => judge(settle(state)).kind !== 'fits')).toEqual([]);
  });

  test('in which all is known ends with orders that sell no more than what is left', () => {
    expect(known.filter((state) => sellsTooMuch(settle(state)))).toEqual([]);
  });

  test('in which all is known ends with all that is left protected, unless the owner decided otherwise', () => {
    expect(known.filter((state) => isBare(settle(state), state))).toEqual([]);
  });

  test('in which all is known comes to the same rest when the relay is killed after any request of an act', () => {
    const cuts = known.flatMap(actingFrom);

    expect(cuts.filter((cut) => sellsTooMuch(settle(cut)))).toEqual([]);
    expect(cuts.filter((cut) => isBare(settle(cut), cut))).toEqual([]);
  });

  test('never has a gap in its stop-loss while it is replaced, nor two take-profits for one part', () => {
    const replaced = states.filter((state) => judge(state).kind === 'place');
    const bared = replaced.filter(({ guard }) => guard.role === 'stop_loss').filter(hasGap);
    const doubled = replaced.filter(({ guard }) => guard.role === 'take_profit').filter(sellsTwice);

    expect([bared, doubled]).toEqual([[], []]);
  });

  test('never leads to an act while nobody knows what stands', () => {
    const unknown = states.filter(({ guard }) => guard.doubt !== null && guard.amount.gt(zero));

    expect(unknown.filter((state) => judge(state).kind !== 'fits')).toEqual([]);
  });

  test('never leads to an order larger than what is left, nor to the end of one that fits', () => {
    const isLarge = (state: State) => {
      const verdict = judge(state);
      const isOrder = verdict.kind === 'place' || verdict.kind === 'stuck';
      return isOrder && verdict.amount.gt(state.guard.amount);
    };
    const fits = ({ guard: { standing, amount } }: State) => {
      const [only] = standing;
      const isReady = only?.isTriggered === false && !only.isLeaving;
      return amount.gt(zero) && standing.length === 1 && isReady && soldBy(only, amount).eq(amount);
    };

    expect(states.filter(isLarge)).toEqual([]);
    expect(states.filter((state) => fits(state) && judge(state).kind !== 'fits')).toEqual([]);
  });
});

describe('What is left that is too little for an order', () => {
  const dust = { amountStep: parseDecimal('1'), minAmount: parseDecimal('5') };
  const guard: Guard = {
    of: 'entry-1',
    role: 'stop_loss',
    side: 'sell',
    price,
    leeway: null,
    amount: parseDecimal('2'),
    record: null,
    standing: [exitOf({ remaining: '9', onlyReduces: true, ...waiting }, 1)],
    doubt: null,
    isReleased: false,
    beside: zero,
    byHand: zero,
  };

  test('keeps a larger stop-loss that only reduces while it is all of the position', () => {
    expect(judgeGuard(guard, dust).kind).toBe('fits');
  });

  test('has it cancelled when that would sell what other orders opened', () => {
    const verdict = judgeGuard({ ...guard, beside: parseDecimal('7') }, dust);

    expect(verdict).toEqual({ kind: 'cancel', cancels: [1] });
  });
});
