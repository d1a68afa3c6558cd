import { readFileSync } from 'node:fs';

/**
 * A part of a request or response as the exchange's own description has it. A text names a type and its rules, or, after
 * a `$`, a record that several operations share; an array has the form of its items, an empty one nothing; `*` stands for
 * every key of a map.
 */
export type Described =
  | string
  | readonly Described[]
  | { readonly either: readonly Described[] }
  | { readonly [field: string]: Described };

export interface DescribedOperation {
  /** Method and path. */
  readonly operation: string;
  /** Parameter → its type and rules. `request` and `nonce` are left out: every private operation has them. */
  readonly sends: Readonly<Record<string, string | readonly string[]>>;
  /** Null: no body is described. */
  readonly answers: Described | null;
  /** How many requests an address may send in 10 seconds, where its description says it. */
  readonly per10s?: number;
  /** The codes of its errors, where the description lists any. */
  readonly codes?: readonly number[];
}

interface Descriptions {
  readonly source: Readonly<Record<string, unknown>>;
  readonly records: Readonly<Record<string, Described>>;
  /** The name of an endpoint → its operation. */
  readonly operations: Readonly<Record<string, DescribedOperation>>;
}

const file = new URL('../fixtures/described-operations.json', import.meta.url);

/** The facts of the exchange's machine-readable descriptions about what the paper exchange serves. */
export const descriptions: Descriptions = JSON.parse(readFileSync(file, 'utf8'));

/** The rules of one parameter or field. */
export interface FieldRules {
  readonly type: 'text' | 'integer' | 'number' | 'boolean' | 'words' | 'null';
  readonly words: readonly string[];
  readonly least: number;
  readonly most: number;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
}

/** @param text for example `integer 1..100, default 50` or `words buy|sell, required` */
export function readRules(text: string): FieldRules {
  const [kind = '', ...rules] = text.split(', ');
  const [type = ''] = kind.split(' ', 1);
  const rest = kind.slice(type.length + 1);
  const [least, most] = type === 'integer' ? rest.split('..') : [];
  return {
    type: type as FieldRules['type'],
    words: type === 'words' ? rest.split('|') : [],
    least: least ? Number(least) : Number.NEGATIVE_INFINITY,
    most: most ? Number(most) : Number.POSITIVE_INFINITY,
    isRequired: rules.includes('required'),
    isNullable: rules.includes('nullable'),
  };
}

function fits(value: unknown, { type, words, least, most, isNullable }: FieldRules): boolean {
  if (value === null) return isNullable || type === 'null';
  if (type === 'words') return typeof value === 'string' && words.includes(value);
  if (type === 'integer') return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
  return typeof value === (type === 'text' ? 'string' : type);
}

/**
 * Where values differ from their description, each once: a value that it does not allow, a field that it does not know,
 * and a field of it that no value has.
 */
export function findDifferences(
  described: Described,
  values: readonly unknown[],
  path = '',
): readonly string[] {
  return [...new Set(compare(described, values, path))].sort();
}

function compare(described: Described, values: readonly unknown[], path: string): readonly string[] {
  if (typeof described === 'string') return compareText(described, values, path);
  if (isList(described)) return compareItems(described[0], values, path);
  if (isChoice(described)) return compareChoice(described.either, values, path);
  const records = values.filter(isRecord);
  const others = values.filter((value) => !isRecord(value));
  return [
    ...others.map((value) => `${path} is ${JSON.stringify(value)}`),
    ...compareFields(described, records, path),
  ];
}

export const isList = (described: Described): described is readonly Described[] => Array.isArray(described);
const isChoice = (described: object): described is { readonly either: readonly Described[] } =>
  'either' in described;
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function compareText(text: string, values: readonly unknown[], path: string): readonly string[] {
  if (text.startsWith('$')) return compare(descriptions.records[text.slice(1)] ?? 'null', values, path);
  const rules = readRules(text);
  return values.filter((value) => !fits(value, rules)).map((value) => `${path} is ${JSON.stringify(value)}`);
}

function compareItems(item: Described | undefined, values: readonly unknown[], path: string) {
  const lists = values.filter((value) => Array.isArray(value));
  const others = values.filter((value) => !Array.isArray(value));
  const wrong = others.map((value) => `${path} is ${JSON.stringify(value)}`);
  const items: readonly unknown[] = lists.flat();
  if (item === undefined) return [...wrong, ...items.map(() => `${path}[] has items`)];
  return items.length === 0
    ? [...wrong, `${path}[] is never there`]
    : [...wrong, ...compare(item, items, `${path}[]`)];
}

/** Each value is compared with the form that it differs least from. */
function compareChoice(forms: readonly Described[], values: readonly unknown[], path: string) {
  const nearest = (value: unknown) => {
    const wrongs = forms.map((form) => compare(form, [value], path).filter(isWrong).length);
    return wrongs.indexOf(Math.min(...wrongs));
  };
  const grouped = Map.groupBy(values, nearest);
  return forms.flatMap((form, index) => {
    const chosen = grouped.get(index);
    if (chosen !== undefined) return compare(form, chosen, path);
    return form === 'null' ? [] : [`${path} never has form ${index + 1}`];
  });
}

/** Whether a difference is more than a field that no value had. */
export const isWrong = (difference: string) => !/ is never there$| never has form \d$/.test(difference);

function compareFields(
  described: { readonly [field: string]: Described },
  records: readonly Readonly<Record<string, unknown>>[],
  path: string,
): readonly string[] {
  const keys = new Set(records.flatMap((record) => Object.keys(record)));
  const { '*': ofOthers, ...named } = described;
  const others = [...keys].filter((key) => !Object.hasOwn(named, key));
  const valuesOf = (asked: readonly string[]) =>
    asked.flatMap((key) =>
      records.filter((record) => Object.hasOwn(record, key)).map((record) => record[key]),
    );
  return [
    ...Object.entries(named).flatMap(([key, form]) =>
      keys.has(key) ? compare(form, valuesOf([key]), join(path, key)) : [`${join(path, key)} is never there`],
    ),
    ...(ofOthers === undefined
      ? others.map((key) => `${join(path, key)} is not described`)
      : compareItems(ofOthers, [valuesOf(others)], join(path, '*'))),
  ];
}

const join = (path: string, key: string) => (path === '' ? key : `${path}.${key}`);
