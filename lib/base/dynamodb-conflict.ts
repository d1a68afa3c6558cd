import { AwsError } from './aws-error.ts';
import type { Clock } from './clock.ts';
import type { Item } from './dynamodb.ts';
import type { Random } from './random.ts';

/** The dependencies of waiting for another transaction. */
export interface Patience {
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * A transaction takes about ten milliseconds. All pauses
 * together stay well below receive-signal's limit of 2 s.
 */
const longestPausesMs = [20, 40, 80, 160, 320] as const;

/**
 * Retries a write while a transaction holds its item. DynamoDB refuses the
 * write then without changing anything, and the client does not retry it.
 *
 * @param send makes one attempt; it must recognise a write that an earlier attempt made
 * @throws the error of the last attempt
 * @see
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
 */
export async function sendPastTransactions<T>(patience: Patience, send: () => Promise<T>): Promise<T> {
  for (const longestMs of longestPausesMs)
    try {
      return await send();
    } catch (error) {
      if (!isConflict(error)) throw error;
      await pause(patience, longestMs);
    }
  return await send();
}

/** The pause is random, so that two transactions that cancelled each other do not collide again. */
async function pause({ clock, random }: Patience, longestMs: number): Promise<void> {
  await clock.sleep(longestMs * (0.5 + random() / 2));
}

/**
 * Asks again, after growing pauses, for what a response left out. DynamoDB leaves out what is too much for one response,
 * and also what it has no capacity for at the moment.
 *
 * @param ask returns what was left out of its response
 * @throws AwsError when several responses in a row held nothing
 */
export async function askUntilWhole<T>(
  patience: Patience,
  wanted: readonly T[],
  ask: (left: readonly T[]) => Promise<readonly T[]>,
): Promise<void> {
  let left = wanted;
  let empty = 0;
  while (left.length > 0) {
    const still = await ask(left);
    empty = still.length < left.length ? 0 : empty + 1;
    left = still;
    if (left.length === 0) return;
    const longestMs = longestPausesMs[empty];
    if (longestMs === undefined)
      throw new AwsError('UnprocessedKeys', 'several responses held nothing', { content: {}, retry: 'no' });
    await pause(patience, longestMs);
  }
}

function isConflict(error: unknown): boolean {
  if (error instanceof AwsError && error.name === 'TransactionConflictException') return true;
  const codes = codesOf(error);
  return codes.includes('TransactionConflict') && codes.every((code) => retryable.has(code));
}

/** The reasons for which a retry can succeed. */
const retryable: ReadonlySet<string> = new Set(['None', 'TransactionConflict']);

/** The reasons that mean that a condition did not hold; any other reason is a failure. */
const contested: ReadonlySet<string> = new Set(['None', 'ConditionalCheckFailed', 'TransactionConflict']);

/** The item that each write of a refused transaction met, null for none; null for any other failure. */
export function readRefusal(error: unknown): readonly (Item | null)[] | null {
  const codes = codesOf(error);
  if (!codes.includes('ConditionalCheckFailed') || !codes.every((code) => contested.has(code))) return null;
  return reasonsOf(error).map(({ Item: found }) => found ?? null);
}

function codesOf(error: unknown): readonly string[] {
  return reasonsOf(error).map(({ Code = 'None' }) => Code);
}

/** Why DynamoDB refused one write of a transaction. */
interface CancellationReason {
  readonly Code?: string;
  /** The item that a condition met. */
  readonly Item?: Item;
}

/** The cancellation reasons of a transaction, one for each item; empty for any other failure. */
function reasonsOf(error: unknown): readonly CancellationReason[] {
  if (!(error instanceof AwsError) || error.name !== 'TransactionCanceledException') return [];
  return (error.content['CancellationReasons'] ?? []) as readonly CancellationReason[];
}
