import { type Decimal, parseDecimal, zero } from '../../base/decimal.ts';
import type { Entry } from '../../ledger/entry.ts';
import { orderRecordOf } from '../../ledger/order-record.ts';
import { type Account, findRehearsalReason } from '../../model/account.ts';
import type { Denial } from '../../model/outcome.ts';
import type { StepFacts } from '../../model/step-facts.ts';
import { reduceLegIdOf } from '../../signals/identity.ts';
import type { ExecuteServices } from '../services.ts';

/** What the leg that reduces the position means for the one that opens after it. */
export type ReduceLeg =
  /** It may still be carried out, or it is not known whether it was. */
  | { readonly kind: 'waits'; readonly reason: string }
  | { readonly kind: 'denied'; readonly denial: Denial }
  | {
      readonly kind: 'done';
      /** Whether it placed an order. */
      readonly hasReduced: boolean;
      /** Whether that has filled for less than it was sent for. */
      readonly hasRest: boolean;
      /** Whether it was only rehearsed: then the position is still there. */
      readonly isRehearsed: boolean;
      /** The position that it read before its order; null when it placed none. */
      readonly before: Decimal | null;
    };

/**
 * What the leg that reduces the position means for the signal after it. The account's mode may have changed between them.
 *
 * @throws RelayError `store_unavailable`
 */
export async function readReduceLeg(
  { ledger, isPaperExchange }: ExecuteServices,
  { name, mode }: Account,
  signalId: string,
): Promise<ReduceLeg> {
  const leg = await ledger.read({ account: name, signalId: reduceLegIdOf(signalId) });
  return judgeReduceLeg(leg, findRehearsalReason(mode, isPaperExchange) !== null);
}

/**
 * @param leg its entry; null when the ledger has none
 * @param isRehearsal whether what comes after it is only rehearsed; a rehearsed leg has reduced nothing for one that is sent
 */
function judgeReduceLeg(leg: Entry | null, isRehearsal: boolean): ReduceLeg {
  if (leg === null) return deny('none', 'the ledger has no signal that reduces the position before this one');
  const { signalId, status, steps } = leg;
  const last = steps.at(-1);
  switch (status) {
    case 'accepted':
    case 'sending':
    case 'unknown':
      return {
        kind: 'waits',
        reason: `signal "${signalId}", which reduces the position first, is ${status}`,
      };
    case 'satisfied':
      return done(leg, { hasReduced: false, isRehearsed: false });
    case 'placed':
      return done(leg, { hasReduced: true, isRehearsed: false });
    case 'dry_run':
      if (isRehearsal) return done(leg, { hasReduced: true, isRehearsed: true });
      break;
    // There was no order. Whether the position allows another one is decided by what is read now.
    case 'not_placed':
      return done(leg, { hasReduced: false, isRehearsed: false });
    case 'rejected':
      if (saysNothingToReduce(last?.facts)) return done(leg, { hasReduced: false, isRehearsed: false });
      break;
    default:
  }
  return deny(
    status,
    `signal "${signalId}", which reduces the position first, ended as ${status}: ${last?.note ?? ''}`,
  );
}

/** The code with which the exchange refuses an order that only reduces when there is no position of that side. */
const nothingToReduce = 116;

export function saysNothingToReduce(facts: StepFacts | undefined): boolean {
  return facts?.refusedCode === nothingToReduce;
}

/** The rule of a reversal that finds nothing to turn, in a reading of the position that counts. */
export const nothingToTurn = 'no_position';

function done(
  leg: Entry,
  result: { readonly hasReduced: boolean; readonly isRehearsed: boolean },
): ReduceLeg {
  return { kind: 'done', ...result, hasRest: hasRest(leg), before: positionBefore(leg) };
}

function hasRest(leg: Entry): boolean {
  const { amount = null, filled = zero } = orderRecordOf(leg) ?? {};
  return amount !== null && filled.lt(amount);
}

function positionBefore({ steps }: Entry): Decimal | null {
  const seen = steps.find(({ facts }) => facts?.position !== undefined)?.facts?.position;
  return seen === undefined ? null : parseDecimal(seen.amount);
}

function deny(actual: string, message: string): ReduceLeg {
  return {
    kind: 'denied',
    denial: {
      rule: 'position_not_reduced',
      limit: 'a first leg that is done',
      actual,
      message: `${message}; nothing was opened`,
    },
  };
}
