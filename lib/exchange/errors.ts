import { type ErrorCode, RelayError } from '../base/errors.ts';
import type { Endpoint } from './endpoint.ts';

/** How a request to the exchange failed, classified by what is proven. */
export type Failure =
  /** It never reached the exchange: no connection was made, or the relay's own rate budget stopped it. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /**
   * The exchange says that it did not process the request (HTTP 429, for the nonce or the rate limit). Only
   * for a repeatable request; for one that must not be repeated the failure is `ambiguous`.
   */
  | { readonly kind: 'rate_limited'; readonly reason: string }
  /** The exchange read it and refused it, in a response that proves the refusal. */
  | {
      readonly kind: 'rejected';
      readonly httpStatus: number;
      readonly exchangeCode: number | null;
      readonly message: string;
      /** Parameter name → texts, as the exchange wrote them. */
      readonly errors: Readonly<Record<string, readonly string[]>>;
    }
  /** It may or may not have taken effect. */
  | {
      readonly kind: 'ambiguous';
      readonly reason: string;
      /**
       * `turned_away`: HTTP 429. `refused_by_place`: by something in front of the exchange, for where it came from.
       * `unknown_path`: an empty 404.
       */
      readonly cause?: 'turned_away' | 'refused_by_place' | 'unknown_path';
    };

const codes: Readonly<Record<Failure['kind'], ErrorCode>> = {
  not_sent: 'exchange_not_sent',
  rate_limited: 'exchange_rate_limited',
  rejected: 'exchange_rejected',
  ambiguous: 'exchange_ambiguous',
};

/** Whether another attempt after these would meet the same. */
export function wouldRecur(attempts: readonly FailedAttempt[]): boolean {
  const causes = attempts.map(({ failure }) => (failure.kind === 'ambiguous' ? failure.cause : undefined));
  if (causes.at(-1) === 'refused_by_place') return true;
  // Once it may be a proxy that has just started.
  return causes.slice(-2).every((cause) => cause === 'unknown_path') && causes.length > 1;
}

/** One attempt that failed, and when. */
export interface FailedAttempt {
  readonly atMs: number;
  readonly failure: Failure;
}

/** Oldest first; at least one. */
type Attempts = readonly [...FailedAttempt[], FailedAttempt];

/**
 * A request to the exchange failed. `failure` is what all attempts prove together: the failure of the last
 * attempt, unless an earlier response was lost and no later response settles it. Once an attempt of a request
 * that must not be repeated is ambiguous, the whole request is.
 */
export class ExchangeError extends RelayError {
  readonly failure: Failure;
  /** Every attempt, oldest first. */
  readonly attempts: Attempts;

  constructor({ name, repeatable }: Pick<Endpoint, 'name' | 'repeatable'>, attempts: Attempts) {
    const failure = weighAttempts(attempts, repeatable);
    super(codes[failure.kind], `${name}: ${describeFailure(failure)}`);
    this.failure = failure;
    this.attempts = attempts;
  }
}

/**
 * An attempt that was not sent proves nothing about an earlier one that may have arrived. Neither does the
 * refusal of a second create: the order of the first create may be the reason for the refusal.
 */
function weighAttempts(attempts: Attempts, repeatable: boolean): Failure {
  const { failure } = attempts.at(-1) ?? attempts[0];
  const lost = attempts.findLast((attempt) => attempt.failure.kind === 'ambiguous');
  const isConclusive = failure.kind === 'ambiguous' || (failure.kind === 'rejected' && repeatable);
  if (lost === undefined || isConclusive) return failure;
  return {
    kind: 'ambiguous',
    reason: `${describeFailure(lost.failure)}; and then: ${describeFailure(failure)}`,
  };
}

/** One sentence that describes the failure. */
export function describeFailure(failure: Failure): string {
  if (failure.kind !== 'rejected') return failure.reason;
  const texts = Object.entries(failure.errors).map(([field, messages]) => `${field}: ${messages.join(' ')}`);
  const code = failure.exchangeCode === null ? '' : `, code ${failure.exchangeCode}`;
  const meaning = meanings[failure.httpStatus];
  return `refused with HTTP ${failure.httpStatus}${code}: ${[failure.message, ...texts].join(' ')}${meaning === undefined ? '' : ` (${meaning})`}`;
}

/** What statuses mean that the exchange's texts do not explain. */
const meanings: Readonly<Record<number, string>> = {
  451: 'the exchange refuses this country or address: run the relay where it may be used',
  // A status of the exchange's own; no HTTP standard defines it.
  453: 'the exchange does not offer this kind of order here: the EU address has no collateral orders at all, and a newly listed market takes only post-only limits',
};

/**
 * Whether the exchange says that there is no such open order.
 *
 * Code 2 alone is ambiguous, because a disabled key has it too. It means "not found" only together with the
 * key of the order id, in the spelling of either dialect.
 */
export function isOrderNotOpen({ failure }: ExchangeError): boolean {
  return (
    failure.kind === 'rejected' &&
    failure.exchangeCode === 2 &&
    ('orderId' in failure.errors || 'order_id' in failure.errors)
  );
}

/** Whether the exchange says that there is no such open group of orders. Code 2 as in {@link isOrderNotOpen}. */
export function isGroupNotOpen({ failure }: ExchangeError): boolean {
  return failure.kind === 'rejected' && failure.exchangeCode === 2 && 'id' in failure.errors;
}

/** Whether the exchange says that its history has nothing with this client order id. */
export function isHistoryNotFound({ failure }: ExchangeError): boolean {
  return failure.kind === 'rejected' && failure.httpStatus === 422 && 'orderHistory' in failure.errors;
}

/**
 * Whether the exchange says that the account or its key lacks permission for the request. Only another
 * account or key changes that. A disabled key is refused with another code, because it may be enabled at any
 * time.
 */
export function isDenied({ failure }: ExchangeError): boolean {
  return (
    failure.kind === 'rejected' &&
    failure.httpStatus === 403 &&
    (failure.exchangeCode === 0 || failure.exchangeCode === 4)
  );
}

/** Whether the response to one of its attempts was lost, so that it may have had an effect. */
export function wasResponseLost({ attempts }: ExchangeError): boolean {
  return attempts.some(({ failure }) => failure.kind === 'ambiguous');
}

/** Whether one of its attempts got HTTP 429. */
export function wasTurnedAway({ attempts }: ExchangeError): boolean {
  return attempts.some(({ failure }) => failure.kind === 'ambiguous' && failure.cause === 'turned_away');
}

/** What was read; null when the exchange cannot be read. */
export async function ifRead<Value>(reading: Promise<Value>): Promise<Value | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ExchangeError) return null;
    throw error;
  }
}
