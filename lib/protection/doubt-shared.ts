import { type Decimal, sumOf } from '../base/decimal.ts';
import type { ExitRole } from '../model/signal.ts';

/** What is known of a part of a position and of what stands for it. */
interface Part {
  readonly role: ExitRole;
  /** In base units. */
  readonly amount: Decimal;
  readonly standing: readonly { readonly remaining: Decimal | null; readonly isLeaving: boolean }[];
  readonly doubt: string | null;
}

/**
 * An order that no list shows any more may have sold what the position has lost, and then the other parts have lost nothing:
 * as long as all that stands is not more than the position, what stands for them stays.
 *
 * @param parts of a position
 * @param whole the position, in base units
 */
export function doubtShared<T extends Part>(
  parts: readonly T[],
  whole: Decimal,
): readonly (Omit<T, 'doubt'> & { readonly doubt: T['doubt'] | 'shared' })[] {
  return parts.map((part) => {
    const isTooLarge = standingOf([part], whole).gt(part.amount);
    const isLeaving = part.standing.some((exit) => exit.isLeaving);
    const mayHaveSold = parts.some((other) => other !== part && other.doubt === 'unlisted');
    if (part.doubt !== null || !isTooLarge || isLeaving || !mayHaveSold) return part;
    const ofRole = parts.filter(({ role }) => role === part.role);
    return standingOf(ofRole, whole).gt(whole) ? part : { ...part, doubt: 'shared' as const };
  });
}

function standingOf(parts: readonly Part[], whole: Decimal): Decimal {
  const remains = parts.flatMap(({ standing }) => standing.map(({ remaining }) => remaining ?? whole));
  return sumOf(remains);
}
