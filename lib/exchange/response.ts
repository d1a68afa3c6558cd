import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import type { WireResponse } from '../base/wire.ts';
import { type Dialect, fromWire, wireWord } from './dialect.ts';
import type { Endpoint, ResultOf } from './endpoint.ts';
import { describeFailure, type Failure } from './errors.ts';
import { parseRedacted } from './redaction.ts';

// Without it, every validation issue would say no more than "Invalid input".
z.config(en());

/** What a response proves. */
export type Verdict<Result> =
  | { readonly kind: 'accepted'; readonly result: Result }
  /** The nonce was already used or lies outside the window. The exchange checked nothing else. */
  | { readonly kind: 'nonce_refused' }
  | Failure;

type Refusal = Extract<Failure, { kind: 'rejected' }>;

/**
 * Statuses that prove a refusal, if the body is a refusal too. The status alone proves nothing, because
 * gateways respond with the same numbers.
 *
 * The live service responds to an unknown path with an empty body, as proxies do, so its 404 proves nothing. The written
 * API promises JSON in every body.
 */
const refusalStatuses: Readonly<Record<Dialect, ReadonlySet<number>>> = {
  documented: new Set([400, 401, 403, 404, 422, 451, 453]),
  live: new Set([400, 401, 403, 422, 451, 453]),
};

const PrivateRefusal = z.object({
  code: z.int(),
  message: z.string(),
  errors: z.optional(
    z.union([z.record(z.string(), z.unknown()), z.array(z.unknown()).check(z.maxLength(0))]),
  ),
});

const PublicRefusal = z.object({
  success: z.literal(false),
  message: z.string(),
  params: z.array(z.unknown()),
});

/** How public endpoints with parameters refuse them: texts by parameter, nothing around them. */
const ParameterRefusal = z
  .record(z.string(), z.array(z.string()).check(z.minLength(1)))
  .check(z.refine((errors) => Object.keys(errors).length > 0));

/**
 * Judges a response by an allow-list. Accepted: the whole result is there. Refused: status and body both say
 * so in the exchange's own form. Everything else is ambiguous.
 *
 * @param redacted texts that are replaced by "[redacted]" wherever the response contains them
 * @see DECISIONS 7
 */
export function readResponse<E extends Endpoint>(
  endpoint: E,
  dialect: Dialect,
  { status, body }: WireResponse,
  redacted: readonly string[],
): Verdict<ResultOf<E>> {
  const content = parseBody(body, redacted);
  if (status >= 200 && status <= 299) return readResult(endpoint, dialect, status, content);
  if (status === 429) return readTooManyRequests(content);
  const isProof = refusalStatuses[dialect].has(status) && (status !== 404 || endpoint.repeatable);
  const refusal = isProof ? readRefusal(endpoint, status, content) : null;
  if (refusal !== null && !endpoint.repeatable && isAboutClientOrderId(refusal))
    return { kind: 'ambiguous', reason: `an order with this id may exist: ${describeFailure(refusal)}` };
  return refusal ?? readNoProof(status, body, content);
}

/**
 * A refusal by place comes from whatever stands before the exchange. An empty 404 may.
 *
 * @param content undefined when the body is no JSON
 */
function readNoProof(
  status: number,
  body: string,
  content: unknown,
): Extract<Failure, { kind: 'ambiguous' }> {
  if (status === 451 || (status === 403 && content === undefined))
    return {
      kind: 'ambiguous',
      cause: 'refused_by_place',
      reason: `HTTP ${status} that is not the exchange's own: requests from this address or country are refused before they reach it; run the relay where the exchange may be used, without a VPN or proxy`,
    };
  if (status === 404 && body === '')
    return {
      kind: 'ambiguous',
      cause: 'unknown_path',
      reason:
        'HTTP 404 without a body: the exchange, or a proxy before it, does not know this path; check the address and the dialect in relay.config.ts',
    };
  return { kind: 'ambiguous', reason: `HTTP ${status} with a body that proves no refusal` };
}

/**
 * Whether the refusal means "this client order id is already used". The order that uses it may come from an
 * earlier attempt of this create, one that seemed to be refused. The text of the refusal is not checked: the
 * relay's ids are well-formed, so nothing else can be wrong with them.
 *
 * Code 36 has no other meaning. The key is spelled as in the dialect.
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
    // The exchange responded, so the request may have taken effect even if the response cannot be read.
    return { kind: 'ambiguous', reason: `HTTP ${status}, but the body cannot be read` };
  }
}

/**
 * The path of each field with a validation issue, and the issue. Never contains values.
 *
 * @param rename from the model's field name to the name that the reader knows
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

/** Where several shapes are allowed, the issues of the closest one (fewest issues) are the most useful. */
function closestIssues(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const [closest] = issue.errors.toSorted((a, b) => a.length - b.length);
  if (closest === undefined) return [issue];
  return closest.flatMap(closestIssues).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** HTTP 429 with a JSON body of code 0 means a refused nonce. A real rate limit has no JSON body. */
function readTooManyRequests(content: unknown): Verdict<never> {
  const refusal = PrivateRefusal.safeParse(content);
  if (refusal.success && refusal.data.code === 0) return { kind: 'nonce_refused' };
  return { kind: 'rate_limited', reason: 'HTTP 429: the exchange accepts no more requests for now' };
}

function readRefusal({ access }: Endpoint, httpStatus: number, content: unknown): Refusal | null {
  if (access === 'public') return readPublicRefusal(httpStatus, content);
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

function readPublicRefusal(httpStatus: number, content: unknown): Refusal | null {
  const refusal = PublicRefusal.safeParse(content).data;
  const about = httpStatus === 422 ? ParameterRefusal.safeParse(content).data : undefined;
  if (refusal === undefined && about === undefined) return null;
  const message = cutText(refusal?.message ?? 'Validation failed');
  return {
    kind: 'rejected',
    httpStatus,
    exchangeCode: null,
    message,
    errors: refusal === undefined ? readErrorTexts(about ?? {}) : {},
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

/**
 * A refusal is stored in the ledger entry of its signal, so a hostile one must not outgrow a database row.
 */
const maximumTexts = 10;
const maximumTextLength = 200;

function cutText(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').slice(0, maximumTextLength);
}

/** Undefined when the body cannot be read, for example because it is not JSON. */
function parseBody(body: string, redacted: readonly string[]): unknown {
  try {
    return parseRedacted(body, redacted);
  } catch {
    return undefined;
  }
}
