import { printParseErrorCode, visit } from 'jsonc-parser';
import { RelayError } from '../base/errors.ts';
import { type BrokenJson, explainBrokenJson, locate } from './broken-json.ts';

/**
 * A JSON value as it was written: numbers keep every digit, objects keep every member, duplicates included.
 *
 * @see DECISIONS 4
 */
export type JsonNode =
  | JsonObject
  | JsonArray
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'null' };

export interface JsonObject {
  readonly kind: 'object';
  readonly members: readonly JsonMember[];
}

export interface JsonArray {
  readonly kind: 'array';
  readonly items: readonly JsonNode[];
}

export interface JsonMember {
  readonly name: string;
  readonly value: JsonNode;
}

/** No alert needs deeper nesting. The limit also bounds the recursion of the parser. */
const deepestNesting = 16;
/** RFC 8259 JSON: exactly what `JSON.parse` accepts. */
const strict = { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false };
/**
 * Fatal: an invalid byte must not be replaced silently by another character. A byte-order mark is dropped.
 */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses the bytes of a body as strict JSON, whatever their content type.
 *
 * @throws RelayError `invalid_json` with one issue: where it is broken, what was found there, and the likely
 *   mistake
 */
export function parseJson(body: Uint8Array): JsonNode {
  const text = decode(body);
  const builder = createBuilder(text);
  build(text, builder);
  return builder.finish();
}

/** Everything before the first mistake of a body, complete values only; null when there is nothing. */
export function parseSoundPart(body: Uint8Array): JsonNode | null {
  let builder: Builder | null = null;
  try {
    const text = decode(body);
    builder = createBuilder(text);
    build(text, builder);
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
  }
  return builder?.finish() ?? null;
}

function build(text: string, builder: Builder): void {
  visit(
    text,
    {
      onObjectBegin: (offset) => builder.open({ kind: 'object', members: [] }, offset),
      onArrayBegin: (offset) => builder.open({ kind: 'array', items: [] }, offset),
      onObjectProperty: builder.name,
      onObjectEnd: builder.close,
      onArrayEnd: builder.close,
      onLiteralValue: (value: unknown, offset, length) =>
        builder.attach(literalOf(value, text.slice(offset, offset + length))),
      onError: (code, offset, length) => {
        throw brokenJson({ text, offset, length, problem: printParseErrorCode(code) });
      },
    },
    strict,
  );
}

function decode(body: Uint8Array): string {
  try {
    return utf8.decode(body);
  } catch (error) {
    throw refusal('the body is not UTF-8 text', 'send the alert message as UTF-8 text', error);
  }
}

type OpenNode =
  | { readonly kind: 'object'; readonly members: JsonMember[] }
  | { readonly kind: 'array'; readonly items: JsonNode[] };

type Builder = ReturnType<typeof createBuilder>;

/** Builds the tree from the visitor's callbacks. */
function createBuilder(text: string) {
  const ancestors: OpenNode[] = [];
  let root: JsonNode | null = null;
  let memberName = '';

  function attach(node: JsonNode): void {
    const parent = ancestors.at(-1);
    if (parent === undefined) root = node;
    else if (parent.kind === 'array') parent.items.push(node);
    else parent.members.push({ name: memberName, value: node });
  }

  return {
    attach,
    name(name: string): void {
      memberName = name;
    },
    open(node: OpenNode, offset: number): void {
      // Thrown before the visitor descends further: thousands of brackets would exhaust the stack.
      if (ancestors.length === deepestNesting) throw tooDeep(text, offset);
      attach(node);
      ancestors.push(node);
    },
    close(): void {
      ancestors.pop();
    },
    /** The visitor reports a body without a value as an error, so a valid body has a root here. */
    finish: (): JsonNode => root ?? { kind: 'null' },
  };
}

function literalOf(value: unknown, source: string): JsonNode {
  if (typeof value === 'string') return { kind: 'string', text: value };
  if (typeof value === 'number') return { kind: 'number', text: source };
  return typeof value === 'boolean' ? { kind: 'boolean', value } : { kind: 'null' };
}

function tooDeep(text: string, offset: number): RelayError {
  return refusal(
    `${locate(text, offset)}: nested deeper than ${deepestNesting} levels`,
    'an alert needs no nested objects; remove the nesting',
  );
}

function brokenJson(broken: BrokenJson): RelayError {
  const { message, hint } = explainBrokenJson(broken);
  return refusal(message, hint);
}

function refusal(message: string, hint: string, cause?: unknown): RelayError {
  return new RelayError('invalid_json', `the alert is not valid JSON: ${message}`, {
    issues: [{ path: '', message, hint }],
    cause,
  });
}
