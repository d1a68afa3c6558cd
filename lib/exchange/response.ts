import * as z from 'zod';
import { type Dialect, fromWire, wireWord } from './dialect.ts';
import type { Endpoint, ResultOf } from './endpoint.ts';
import { describeFailure, type Failure } from './errors.ts';
import { parseRedacted } from './redaction.ts';
import type { ExchangeResponse } from './transport.ts';

/** What a response proves. */
export type Verdict<Result> =
  | { readonly kind: 'accepted'; readonly result: Result }
  /** The nonce was used, or outside the window; nothing else was looked at. */
  | { readonly kind: 'nonce_refused' }
  | Failure;

type Refusal = Extract<Failure, { kind: 'rejected' }>;

/**
 * Statuses that prove a refusal, if the body is one too: gateways answer with the same numbers and prove nothing.
 *
 * The live service answers an unknown path with an empty body; the written API promises JSON in every body.
 */
const refusalStatuses: Readonly<Record<Dialect, ReadonlySet<number>>> = {
  documented: new Set([400, 401, 403, 404, 422, 453]),
  live: new Set([400, 401, 403, 422, 453]),
};

const PrivateRefusal = z.object({
  code: z.int(),
  message: z.string(),
  errors: z.union([z.record(z.string(), z.unknown()), z.array(z.unknown()).max(0)]).optional(),
});

const PublicRefusal = z.object({
  success: z.literal(false),
  message: z.string(),
  params: z.array(z.unknown()),
});

/**
 * Judges a response by an allow-list: accepted when the whole result is there, refused when status and body both say
 * so in the exchange's own form. Everything else is ambiguous.
 *
 * @param redacted texts that stand as "[redacted]" in whatever is read of the response
 */
export function readResponse<E extends Endpoint>(
  endpoint: E,
  dialect: Dialect,
  { status, body }: ExchangeResponse,
  redacted: readonly string[],
): Verdict<ResultOf<E>> {
  const content = parseBody(body, redacted);
  if (status >= 200 && status <= 299) return readResult(endpoint, dialect, status, content);
  if (status === 429) return readTurnedAway(content);
  if (status === 404 && body === '')
    return { kind: 'rejected', httpStatus: 404, exchangeCode: null, message: 'no such path', errors: {} };
  const refusal = refusalStatuses[dialect].has(status) ? readRefusal(endpoint, status, content) : null;
  if (refusal !== null && !endpoint.repeatable && isAboutClientOrderId(refusal))
    return { kind: 'ambiguous', reason: `an order of that id may be there: ${describeFailure(refusal)}` };
  return refusal ?? { kind: 'ambiguous', reason: `HTTP ${status} with a body that proves no refusal` };
}

/**
 * "This client order id is already used": by an earlier create, perhaps the very one that seemed to be turned away.
 * Its texts are not told apart: the relay's own ids are in order, so nothing else can be wrong with them.
 *
 * Code 36 stands for nothing else; the key is in the words of the dialect.
 */
function isAboutClientOrderId({ exchangeCode, errors }: Refusal): boolean {
  return exchangeCode === 36 || 'clientOrderId' in errors || 'client_order_id' in errors;
}

function readResult<E extends Endpoint>(
  endpoint: E,
  dialect: Dialect,
  status: number,
  content: unknown,
): Verdict<ResultOf<E>> {
  if (content === undefined) return { kind: 'ambiguous', reason: `HTTP ${status}, but the body is not JSON` };
  try {
    const read = z.safeParse<E['result']>(endpoint.result, fromWire(dialect, endpoint, content));
    if (read.success) return { kind: 'accepted', result: read.data };
    const issues = describeIssues(read.error.issues, (word) => wireWord(dialect, endpoint, word));
    return { kind: 'ambiguous', reason: `HTTP ${status}, but the body is incomplete: ${issues}` };
  } catch {
    // It was sent and answered: whatever goes wrong from there, it may have taken effect.
    return { kind: 'ambiguous', reason: `HTTP ${status}, but the body cannot be read` };
  }
}

/**
 * The fields at fault, as paths, with what is wrong of each. Values are never told.
 *
 * @param rename from the model's word to the reader's
 */
export function describeIssues(
  issues: readonly z.core.$ZodIssue[],
  rename: (word: string) => string = (word) => word,
): string {
  const texts = issues
    .flatMap(closestIssues)
    .slice(0, maximumTexts)
    .map(({ path, message }) => {
      const field = path.map((step) => (typeof step === 'string' ? rename(step) : String(step))).join('.');
      return cutText(field === '' ? message : `${field}: ${message}`);
    });
  return texts.join('; ');
}

/** Where several shapes are allowed, the one that comes closest tells best what is wrong. */
function closestIssues(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const [closest] = issue.errors.toSorted((a, b) => a.length - b.length);
  if (closest === undefined) return [issue];
  return closest.flatMap(closestIssues).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** A used nonce answers in JSON, a true rate limit does not. */
function readTurnedAway(content: unknown): Verdict<never> {
  const refusal = PrivateRefusal.safeParse(content);
  if (refusal.success && refusal.data.code === 0) return { kind: 'nonce_refused' };
  return { kind: 'rate_limited', reason: 'HTTP 429: the exchange takes no more requests for now' };
}

function readRefusal({ access }: Endpoint, httpStatus: number, content: unknown): Refusal | null {
  if (access === 'public') {
    const refusal = PublicRefusal.safeParse(content);
    if (!refusal.success) return null;
    const message = cutText(refusal.data.message);
    return { kind: 'rejected', httpStatus, exchangeCode: null, message, errors: {} };
  }
  const refusal = PrivateRefusal.safeParse(content);
  if (!refusal.success) return null;
  const { code, message, errors } = refusal.data;
  return {
    kind: 'rejected',
    httpStatus,
    exchangeCode: code,
    message: cutText(message),
    errors: readErrorTexts(errors ?? {}),
  };
}

function readErrorTexts(errors: object): Record<string, readonly string[]> {
  const fields = Object.entries(errors).slice(0, maximumTexts);
  return Object.fromEntries(
    fields.map(([field, texts]) => [
      cutText(field),
      [texts]
        .flat()
        .filter((text) => typeof text === 'string')
        .slice(0, maximumTexts)
        .map(cutText),
    ]),
  );
}

/** Refusals are kept with the signal they end: a hostile one must not outgrow a database row. */
const maximumTexts = 10;
const maximumTextLength = 200;

function cutText(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').slice(0, maximumTextLength);
}

/** Undefined when it cannot be read, as text that is not JSON. */
function parseBody(body: string, redacted: readonly string[]): unknown {
  try {
    return parseRedacted(body, redacted);
  } catch {
    return undefined;
  }
}
