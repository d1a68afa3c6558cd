import { describe, expect, test } from '@jest/globals';
import { type Decimal, minimum, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Guard, StandingExit } from '../../lib/protection/guards.ts';
import { type GuardVerdict, judgeGuard } from '../../lib/protection/judge-guard.ts';

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
}

const kinds: readonly Kind[] = [null, '1', '2'].flatMap((remaining) =>
  [true, false].flatMap((onlyReduces) =>
    [true, false].map((isTriggered) => ({ remaining, onlyReduces, isTriggered })),
  ),
);

function exitOf({ remaining, ...kind }: Kind, orderId: number): StandingExit {
  const amount = remaining === null ? null : parseDecimal(remaining);
  return { ...kind, orderId, remaining: amount, price, isMade: !kind.onlyReduces, isLeaving: false };
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
      ([null, 'unlisted', 'awaited', 'paired'] as const).flatMap((doubt) =>
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

/** What the act of a verdict leaves, once the exchange has done all of it. */
function act({ guard }: State, verdict: GuardVerdict): State {
  if (verdict.kind === 'fits') return { guard };
  const standing = guard.standing.filter(({ orderId }) => !verdict.cancels.includes(orderId));
  switch (verdict.kind) {
    case 'cancel':
      return { guard: { ...guard, standing } };
    case 'stuck':
      return { guard: { ...guard, standing, amount: guard.amount.minus(verdict.amount) } };
    case 'place': {
      const kind = { remaining: verdict.amount.toFixed(), onlyReduces: true, isTriggered: false };
      return { guard: { ...guard, standing: [...standing, exitOf(kind, 9)] } };
    }
  }
}

const judge = ({ guard }: State) => judgeGuard(guard, steps);

function settle(state: State): State {
  let now = state;
  for (let acts = 0; acts < 3; acts += 1) {
    const verdict = judge(now);
    if (verdict.kind === 'fits') return now;
    now = act(now, verdict);
  }
  throw new Error(`it does not come to rest: ${JSON.stringify(state)}`);
}

/** What an order may sell of a position of that size. */
const soldBy = ({ remaining }: StandingExit, size: Decimal) => remaining ?? size;

describe('Every state of a guard', () => {
  test('is enumerated', () => {
    expect(states).toHaveLength(2 * 3 * (1 + 12 + 144) * 4 * 2 * 3);
  });

  test('comes to rest after three acts at most', () => {
    for (const state of states) expect(judge(settle(state)).kind).toBe('fits');
  });

  test('in which all is known ends with orders that sell no more than what is left', () => {
    for (const state of states.filter(({ guard }) => guard.doubt === null)) {
      const { guard } = settle(state);
      const sold = guard.standing.reduce((sum, exit) => sum.plus(soldBy(exit, guard.amount)), zero);
      expect(sold.lte(guard.amount)).toBe(true);
    }
  });

  test('in which all is known ends with all that is left protected, unless the owner decided otherwise', () => {
    for (const state of states.filter(({ guard }) => guard.doubt === null)) {
      const { guard } = settle(state);
      const waiting = guard.standing.filter(({ isTriggered }) => !isTriggered);
      const own = waiting.reduce((sum, exit) => sum.plus(soldBy(exit, guard.amount)), zero);
      const hand = minimum(guard.byHand, guard.amount);
      const isLeft = guard.isReleased && state.guard.standing.length === 0;
      expect(isLeft || own.plus(hand).gte(guard.amount)).toBe(true);
    }
  });

  test('never leads to an act while nobody knows what stands', () => {
    for (const state of states.filter(({ guard }) => guard.doubt !== null && guard.amount.gt(zero)))
      expect(judge(state).kind).toBe('fits');
  });

  test('never leads to an order larger than what is left, nor to the end of one that fits', () => {
    for (const state of states) {
      const verdict = judge(state);
      if (verdict.kind === 'place' || verdict.kind === 'stuck')
        expect(verdict.amount.lte(state.guard.amount)).toBe(true);
      const { standing, amount } = state.guard;
      const [only] = standing;
      const fits = standing.length === 1 && only?.isTriggered === false && soldBy(only, amount).eq(amount);
      if (fits && amount.gt(zero)) expect(verdict.kind).toBe('fits');
    }
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
    standing: [exitOf({ remaining: '9', onlyReduces: true, isTriggered: false }, 1)],
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
