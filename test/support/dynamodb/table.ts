import type { AttributeValue, CreateTableCommandInput, Projection } from '@aws-sdk/client-dynamodb';
import { createEmptyKey, createInvalid, createInvalidParameter } from './failure.ts';
import type { Item } from './item.ts';
import { type Lag, LaggingCopy } from './lagging-copy.ts';
import { sizeOfItem, typeOf } from './values.ts';

/**
 * 400 KB of names and values: of the item, and of what every local index repeats of it.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-items-size-lsi
 */
const largestItemBytes = 409_600;

/** The names of a table's or an index's keys. */
export interface Keys {
  readonly partition: string;
  readonly sort: string | null;
}

/** Items in an order of their own; an item without one of the keys is not in it. */
export interface Index {
  readonly name: string;
  readonly keys: Keys;
  readonly isGlobal: boolean;
  readonly projection: Projection;
}

/** One table: its items as they are, and as its eventually consistent copies show them. */
export class Table {
  readonly name: string;
  readonly keys: Keys;
  readonly indexes: readonly Index[];
  readonly #types: ReadonlyMap<string, string>;
  readonly #items = new Map<string, Item>();
  readonly #copies = new Map<string, LaggingCopy>();

  constructor(definition: CreateTableCommandInput, lag: Lag) {
    this.name = definition.TableName ?? '';
    this.#types = new Map(
      (definition.AttributeDefinitions ?? []).map(({ AttributeName = '', AttributeType = '' }) => [
        AttributeName,
        AttributeType,
      ]),
    );
    this.keys = keysOf(definition.KeySchema);
    this.indexes = [
      ...(definition.LocalSecondaryIndexes ?? []).map((index) => toIndex(index, false)),
      ...(definition.GlobalSecondaryIndexes ?? []).map((index) => toIndex(index, true)),
    ];
    const copied = ['', ...this.indexes.filter(({ isGlobal }) => isGlobal).map(({ name }) => name)];
    for (const name of copied) this.#copies.set(name, new LaggingCopy(lag));
  }

  /** @param key the names and values of the table's own keys and nothing else */
  read(key: Item): Item | undefined {
    return this.#items.get(this.nameOf(key));
  }

  /** Null deletes. */
  write(key: Item, item: Item | null): void {
    const name = this.nameOf(key);
    if (item === null) this.#items.delete(name);
    else this.#items.set(name, item);
    for (const copy of this.#copies.values()) copy.write(name, item);
  }

  /** Every item that the table, or the index, shows to such a read. */
  listItems(index: Index | null, isConsistent: boolean): readonly Item[] {
    if (isConsistent) return [...this.#items.values()];
    return this.#copies.get(index?.isGlobal === true ? index.name : '')?.listItems() ?? [];
  }

  /** What an eventually consistent read of one item shows. */
  readCopy(key: Item): Item | undefined {
    return this.#copies.get('')?.read(this.nameOf(key));
  }

  nameOf(key: Item): string {
    return JSON.stringify(this.#keyNames().map((name) => key[name]));
  }

  keyOf(item: Item): Item {
    return pick(item, this.#keyNames());
  }

  /** @throws Failure when it is not the whole key and nothing else */
  checkKey(key: Item): void {
    const names = this.#keyNames();
    if (Object.keys(key).length !== names.length || names.some((name) => key[name] === undefined))
      throw createInvalid('The provided key element does not match the schema');
    for (const name of names) this.#checkKeyValue(name, key[name]);
  }

  /** @throws Failure when the table does not take the item: its keys, its indexes' keys, or its size */
  checkItem(item: Item, tooLarge = 'Item size has exceeded the maximum allowed size'): void {
    for (const name of this.#keyNames()) {
      if (item[name] === undefined) throw createInvalidParameter(`Missing the key ${name} in the item`);
      this.#checkKeyValue(name, item[name]);
    }
    for (const index of this.indexes) this.#checkIndexKeys(index, item);
    const entries = this.indexes.filter((index) => !index.isGlobal && isInIndex(index.keys, item));
    const sizes = [item, ...entries.map((index) => this.project(index, item))].map(sizeOfItem);
    if (sizes.reduce((sum, size) => sum + size) > largestItemBytes) throw createInvalid(tooLarge);
  }

  /** What the index holds of an item. */
  project({ keys, projection }: Index, item: Item): Item {
    if (projection.ProjectionType === 'ALL') return item;
    return pick(item, [...this.#keyNames(), ...namesOf(keys), ...(projection.NonKeyAttributes ?? [])]);
  }

  typeOfKey(name: string): string {
    return this.#types.get(name) ?? '';
  }

  #keyNames(): readonly string[] {
    return namesOf(this.keys);
  }

  #checkKeyValue(name: string, value: AttributeValue | undefined): void {
    const type = this.typeOfKey(name);
    if (value === undefined || typeOf(value) !== type)
      throw createInvalidParameter(
        `Type mismatch for key ${name} expected: ${type} actual: ${value === undefined ? 'NULL' : typeOf(value)}`,
      );
    if (value.S === '') throw createEmptyKey(name);
    const most = name === this.keys.partition ? 2048 : 1024;
    if (Buffer.byteLength(value.S ?? '') > most)
      throw createInvalidParameter(
        most === 2048
          ? 'Size of hashkey has exceeded the maximum size limit of2048 bytes'
          : 'Aggregated size of all range keys has exceeded the size limit of 1024 bytes',
      );
  }

  #checkIndexKeys({ name, keys }: Index, item: Item): void {
    for (const key of namesOf(keys)) {
      const value = item[key];
      if (value === undefined || this.#keyNames().includes(key)) continue;
      if (typeOf(value) !== this.typeOfKey(key))
        throw createInvalidParameter(
          `Type mismatch for Index Key ${key} Expected: ${this.typeOfKey(key)} Actual: ${typeOf(value)} IndexName: ${name}`,
        );
      if (value.S === '')
        throw createInvalid(
          `One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: ${name}, IndexKey: ${key}`,
        );
    }
  }
}

function keysOf(schema: CreateTableCommandInput['KeySchema']): Keys {
  const find = (type: string) => schema?.find(({ KeyType }) => KeyType === type)?.AttributeName;
  return { partition: find('HASH') ?? '', sort: find('RANGE') ?? null };
}

function toIndex(
  { IndexName, KeySchema, Projection }: NonNullable<CreateTableCommandInput['LocalSecondaryIndexes']>[number],
  isGlobal: boolean,
): Index {
  return { name: IndexName ?? '', keys: keysOf(KeySchema), isGlobal, projection: Projection ?? {} };
}

export function namesOf({ partition, sort }: Keys): readonly string[] {
  return sort === null ? [partition] : [partition, sort];
}

export function isInIndex(keys: Keys, item: Item): boolean {
  return namesOf(keys).every((name) => item[name] !== undefined);
}

export function pick(item: Item, names: readonly string[]): Item {
  const picked: Item = {};
  for (const name of names) {
    const value = item[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}
