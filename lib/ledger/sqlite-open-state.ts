import type { Move } from './ledger.ts';
import { isOpenAfter } from './ledger-rules.ts';

/**
 * The column `order_open`: an order that has ended may still be followed.
 *
 * @see DECISIONS 145
 */
export function openStateOf(isOpen: boolean, isFollowed: boolean): 0 | 1 | 2 {
  if (isOpen) return 1;
  return isFollowed ? 2 : 0;
}

/** That column after a move; null: as before. */
export function openStateAfter(move: Move): 0 | 1 | 2 | null {
  const isOpen = isOpenAfter(move);
  return isOpen === undefined ? null : openStateOf(isOpen, move.step.status === 'placed');
}
