import {
  type CancellationReason,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';

/** What waiting for somebody else's transaction needs of the world. */
export interface Patience {
  readonly clock: Clock;
  readonly random: Random;
}

/** A transaction takes some ten milliseconds. All pauses together stay well below the 2 s that the door has. */
const longestPausesMs = [20, 40, 80, 160, 320] as const;

/**
 * Sends a write again while a transaction is at work on its item: DynamoDB turns it away then, having changed nothing,
 * and the SDK takes that for a response.
 *
 * @param send one attempt; it must recognise a write of its own that an earlier attempt made
 * @throws whatever the last attempt threw
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
 */
export async function sendPastTransactions<T>(
  { clock, random }: Patience,
  send: () => Promise<T>,
): Promise<T> {
  for (const longestMs of longestPausesMs)
    try {
      return await send();
    } catch (error) {
      if (!isConflict(error)) throw error;
      // By chance, so that two transactions that turned each other away do not meet again.
      await clock.sleep(longestMs * (0.5 + random() / 2));
    }
  return await send();
}

function isConflict(error: unknown): boolean {
  if (error instanceof TransactionConflictException) return true;
  const codes = reasonsOf(error).map(({ Code = 'None' }) => Code);
  return codes.includes('TransactionConflict') && codes.every((code) => passing.has(code));
}

/** Reasons that will be gone when the transaction is sent again. */
const passing: ReadonlySet<string> = new Set(['None', 'TransactionConflict']);

/** Why a transaction was cancelled, item by item; nothing for any other failure. */
export function reasonsOf(error: unknown): readonly CancellationReason[] {
  return error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
}
