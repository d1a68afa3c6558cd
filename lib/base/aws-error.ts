import { readJson } from './json.ts';
import type { WireOutcome } from './wire.ts';

/** A request that an AWS service refused, or did not answer. */
export class AwsError extends Error {
  /** The service's own name of the failure; `NoResponse` when none came, `Http503` and the like when it names none. */
  override readonly name: string;
  /** What the response says beside the name, such as the item that a condition met. */
  readonly content: Readonly<Record<string, unknown>>;
  /** Whether the same request may succeed when it is sent again. */
  readonly retry: 'no' | 'soon' | 'later';

  constructor(name: string, message: string, about: Pick<AwsError, 'content' | 'retry'>) {
    super(message);
    this.name = name;
    this.content = about.content;
    this.retry = about.retry;
  }
}

/** The names of what an SDK of AWS retries after a longer pause, as far as these services use them. */
const throttles: ReadonlySet<string> = new Set([
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'Throttling',
  'ThrottlingException',
  'TransactionInProgressException',
]);

/** Of what these services respond with status 500 and above, this can mean that they were overloaded for a moment. */
const transientStatuses: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** The response header that may name a failure, in place of the body. */
export const errorHeader = 'x-amzn-errortype';

/** The error that an outcome is; null for a response with a result. */
export function errorOf(outcome: WireOutcome): AwsError | null {
  if (outcome.kind !== 'answered')
    return new AwsError('NoResponse', outcome.reason, { content: {}, retry: 'soon' });
  const { status, body, headers } = outcome;
  if (status === 200) return null;
  const content = toRecord(readJson(body));
  const name = nameOf(content, headers?.[errorHeader]) ?? `Http${status}`;
  const retry =
    throttles.has(name) || status === 429 ? 'later' : transientStatuses.has(status) ? 'soon' : 'no';
  return new AwsError(name, textIn(content, 'message') ?? textIn(content, 'Message') ?? '', {
    content,
    retry,
  });
}

/**
 * Of `com.amazonaws.dynamodb.v20120810#ThrottlingException:http://internal.amazon.com/`, what is between `#` and `:`; both
 * may be missing.
 *
 * @see https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html#operation-error-serialization
 */
function nameOf(content: Readonly<Record<string, unknown>>, header: string | undefined): string | null {
  const written = textIn(content, '__type') ?? textIn(content, 'code') ?? header ?? '';
  return /^(?:[^:,#]*#)?([^:,#]+)/.exec(written)?.[1] ?? null;
}

function textIn(content: Readonly<Record<string, unknown>>, name: string): string | null {
  const text = content[name];
  return typeof text === 'string' && text !== '' ? text : null;
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
