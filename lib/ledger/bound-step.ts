import type { Json } from '../base/json.ts';
import type { LookupProgress, Step } from './entry.ts';

/**
 * A DynamoDB item holds 400 KB, and attributes copied to a local index count twice.
 * An entry has a handful of steps, a signal of 16 KB at most and little else. Steps
 * of this size therefore always fit, however long a response of the exchange is.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
export const maximumStepBytes = 24 * 1024;
const maximumNoteBytes = 4 * 1024;

/** The limits for evidence, tried in this order until the evidence fits. */
const bounds = [
  { textBytes: 4096, listItems: 1000, depth: 16 },
  { textBytes: 512, listItems: 50, depth: 8 },
  { textBytes: 128, listItems: 10, depth: 6 },
] as const;
type Bound = (typeof bounds)[number];

/**
 * Shortens a step for storage: texts and lists that are too long are cut, with a note of how much is missing.
 */
function boundStep(step: Step): Step {
  const { evidence, ...rest } = step;
  const bounded = { ...rest, note: boundText(step.note, maximumNoteBytes) };
  return evidence === undefined ? bounded : { ...bounded, evidence: boundEvidence(evidence) };
}

/** The text under which a step is stored. */
export function formatStep(step: Step): string {
  const text = JSON.stringify(step);
  // A character has three bytes at most, so nearly every step is within the bounds for certain.
  const isShort =
    step.note.length * 3 <= maximumNoteBytes && text.length * 3 <= maximumStepBytes - maximumNoteBytes;
  return isShort ? text : JSON.stringify(boundStep(step));
}

/** Shortens the finding of a lookup for storage. */
export function boundLookup(lookup: LookupProgress): LookupProgress {
  return { ...lookup, finding: lookup.finding === null ? null : boundText(lookup.finding, maximumNoteBytes) };
}

function boundEvidence(evidence: Json): Json {
  const mostBytes = maximumStepBytes - maximumNoteBytes;
  if (sizeOf(evidence) <= mostBytes) return evidence;
  for (const bound of bounds) {
    const bounded = boundJson(evidence, bound, 0);
    if (sizeOf(bounded) <= mostBytes) return bounded;
  }
  return { leftOut: `evidence of ${sizeOf(evidence)} bytes` };
}

function boundJson(value: Json, bound: Bound, depth: number): Json {
  if (typeof value === 'string') return boundText(value, bound.textBytes);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= bound.depth) return `(${sizeOf(value)} bytes left out)`;
  if (isList(value)) return boundList(value, bound, depth);
  const fields = Object.entries(value);
  const kept = fields
    .slice(0, bound.listItems)
    .map(([name, field]) => [boundText(name, 128), boundJson(field, bound, depth + 1)]);
  const leftOut = fields.length - kept.length;
  return { ...Object.fromEntries(kept), ...(leftOut > 0 ? { leftOut: `${leftOut} more fields` } : {}) };
}

function boundList(list: readonly Json[], bound: Bound, depth: number): Json {
  const kept = list.slice(0, bound.listItems).map((item) => boundJson(item, bound, depth + 1));
  const leftOut = list.length - kept.length;
  return leftOut > 0 ? [...kept, { leftOut: `${leftOut} more of ${list.length}` }] : kept;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** Cuts between characters, never within one. */
function boundText(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= mostBytes) return text;
  let end = mostBytes;
  // In UTF-8, bytes of the form 10xxxxxx continue a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.subarray(0, end).toString()}… (${bytes.length - end} more bytes)`;
}

function sizeOf(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}
