import { isDeepStrictEqual } from 'node:util';
import type { TransactWriteItem, TransactWriteItemsInput } from '@aws-sdk/client-dynamodb';
import { createInvalid, Failure } from './failure.ts';
import type { Item } from './item.ts';
import type { Table } from './table.ts';
import { sizeOfItem } from './values.ts';
import { prepareWrite, type Write, type WriteInput, type WriteKind } from './writes.ts';

const mostActions = 100;
const largestTransactionBytes = 4 * 1_048_576;
const kinds: readonly WriteKind[] = ['Put', 'Update', 'Delete', 'ConditionCheck'];

/** Why one action of a cancelled transaction was, or was not, the reason. */
interface CancellationReason {
  readonly Code: string;
  readonly Message?: string;
  readonly Item?: Item;
}

/**
 * Transactions that write, all or nothing.
 *
 * One takes hold of its items first and writes a little later: whoever else would write one of them in between is
 * turned away, as DynamoDB does.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
 */
export class Transactions {
  readonly #findTable: (name: string | undefined) => Table;
  readonly #held = new Set<string>();
  /** Those done, by their token; AWS forgets a token after ten minutes, this stand-in never. */
  readonly #done = new Map<string, TransactWriteItemsInput>();
  #beforeWriting: () => Promise<void> = () => new Promise((resolve) => setImmediate(resolve));

  constructor(findTable: (name: string | undefined) => Table) {
    this.#findTable = findTable;
  }

  /** Has every transaction from now on wait for this between taking hold of its items and writing them. */
  holdUntil(released: Promise<void>): void {
    this.#beforeWriting = () => released;
  }

  /** @throws Failure when a transaction is about to write the item */
  checkFree({ table, key }: Pick<Write, 'table' | 'key'>): void {
    if (this.#held.has(nameOf(table, key)))
      throw new Failure('TransactionConflictException', 'Transaction is ongoing for the item');
  }

  async write(input: TransactWriteItemsInput): Promise<object> {
    const token = input.ClientRequestToken;
    const known = token === undefined ? undefined : this.#done.get(token);
    if (known !== undefined && isDeepStrictEqual(known, input)) return {};
    if (known !== undefined)
      throw new Failure(
        'IdempotentParameterMismatchException',
        'The request was already made with this client token, and other parameters',
      );
    await this.#writeAll(this.#prepare(input.TransactItems ?? []));
    if (token !== undefined) this.#done.set(token, input);
    return {};
  }

  #prepare(actions: readonly TransactWriteItem[]): readonly Write[] {
    if (actions.length === 0 || actions.length > mostActions)
      throw createInvalid(
        `1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to ${mostActions} and greater than or equal to 1`,
      );
    const writes = actions.map((action) => this.#prepareOne(action));
    if (new Set(writes.map(({ table, key }) => nameOf(table, key))).size < writes.length)
      throw createInvalid('Transaction request cannot include multiple operations on one item');
    return writes;
  }

  #prepareOne(action: TransactWriteItem): Write {
    const given = kinds.filter((kind) => action[kind] !== undefined);
    const [kind] = given;
    if (kind === undefined || given.length > 1)
      throw createInvalid('TransactItems can only contain one of Check, Put, Update or Delete');
    const input = action[kind] as WriteInput;
    return prepareWrite(this.#findTable(input.TableName), kind, input);
  }

  async #writeAll(writes: readonly Write[]): Promise<void> {
    const names = writes.map(({ table, key }) => nameOf(table, key));
    const conflicts = names.map((name) => this.#held.has(name));
    if (conflicts.includes(true)) throw createCancellation(conflicts.map(toConflict));
    for (const name of names) this.#held.add(name);
    try {
      await this.#beforeWriting();
      this.#decideAndWrite(writes);
    } finally {
      for (const name of names) this.#held.delete(name);
    }
  }

  #decideAndWrite(writes: readonly Write[]): void {
    const decisions = writes.map(decide);
    const reasons = decisions.map(({ reason }) => reason);
    if (reasons.some(({ Code }) => Code !== 'None')) throw createCancellation(reasons);
    const bytes = decisions.reduce((sum, { after }) => sum + (after == null ? 0 : sizeOfItem(after)), 0);
    if (bytes > largestTransactionBytes)
      throw createInvalid('Collection size of items in the transaction exceeds the 4 MB limit');
    for (const [i, { table, key }] of writes.entries()) {
      const after = decisions[i]?.after;
      if (after !== undefined) table.write(key, after);
    }
  }
}

interface Decision {
  readonly reason: CancellationReason;
  readonly after?: Item | null | undefined;
}

function decide({ table, key, decide: become }: Write): Decision {
  try {
    return { reason: { Code: 'None' }, after: become(table.read(key)) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const Code = error.kind === 'ValidationException' ? 'ValidationError' : 'ConditionalCheckFailed';
    return { reason: { Code, Message: error.message, ...error.more } };
  }
}

function toConflict(isHeld: boolean): CancellationReason {
  return isHeld
    ? { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' }
    : { Code: 'None' };
}

function createCancellation(reasons: readonly CancellationReason[]): Failure {
  const codes = reasons.map(({ Code }) => Code).join(', ');
  return new Failure(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons: reasons },
  );
}

function nameOf(table: Table, key: Item): string {
  return `${table.name} ${table.nameOf(key)}`;
}
