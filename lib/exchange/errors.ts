import { type ErrorCode, RelayError } from '../base/errors.ts';
import type { Endpoint } from './endpoint.ts';

/** How a request to the exchange failed, told apart by what is proven. */
export type Failure =
  /** It never reached the exchange: the connection was never made, or our own budget held it back. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /**
   * The exchange says that it took nothing in (HTTP 429, by nonce or by rate). Of a request that may be repeated that
   * is believed; of one that must not be, it is `ambiguous`.
   */
  | { readonly kind: 'rate_limited'; readonly reason: string }
  /** The exchange read it and said no, in a response that proves it. */
  | {
      readonly kind: 'rejected';
      readonly httpStatus: number;
      readonly exchangeCode: number | null;
      readonly message: string;
      /** Parameter name → texts, as the exchange wrote them. */
      readonly errors: Readonly<Record<string, readonly string[]>>;
    }
  /** It may or may not have taken effect. */
  | { readonly kind: 'ambiguous'; readonly reason: string };

const codes: Readonly<Record<Failure['kind'], ErrorCode>> = {
  not_sent: 'exchange_not_sent',
  rate_limited: 'exchange_rate_limited',
  rejected: 'exchange_rejected',
  ambiguous: 'exchange_ambiguous',
};

/** One sending that failed, and when. */
export interface FailedAttempt {
  readonly atMs: number;
  readonly failure: Failure;
}

/** Oldest first; at least one. */
type Attempts = readonly [...FailedAttempt[], FailedAttempt];

/**
 * A request to the exchange failed. `failure` is what the attempts prove together: the last one's, unless an earlier
 * response was lost and the exchange has not spoken since. A request that must not be repeated stays ambiguous once
 * one attempt was.
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
 * An attempt that went nowhere says nothing about an earlier one that may have arrived. Nor does the refusal of a
 * second create about the first: it may be the first that stands in its way.
 */
function weighAttempts(attempts: Attempts, repeatable: boolean): Failure {
  const { failure } = attempts.at(-1) ?? attempts[0];
  const lost = attempts.findLast((attempt) => attempt.failure.kind === 'ambiguous');
  const hasSpoken = failure.kind === 'ambiguous' || (failure.kind === 'rejected' && repeatable);
  if (lost === undefined || hasSpoken) return failure;
  return {
    kind: 'ambiguous',
    reason: `${describeFailure(lost.failure)}; and then: ${describeFailure(failure)}`,
  };
}

/** One sentence for people. */
export function describeFailure(failure: Failure): string {
  if (failure.kind !== 'rejected') return failure.reason;
  const texts = Object.entries(failure.errors).map(([field, messages]) => `${field}: ${messages.join(' ')}`);
  const code = failure.exchangeCode === null ? '' : `, code ${failure.exchangeCode}`;
  const meaning = failure.httpStatus === notOfferedStatus ? ` ${notOfferedMeaning}` : '';
  return `refused with HTTP ${failure.httpStatus}${code}: ${[failure.message, ...texts].join(' ')}${meaning}`;
}

/** The exchange's own status, which no standard explains. */
const notOfferedStatus = 453;
const notOfferedMeaning =
  '(the exchange does not offer this kind of order here: the EU address has no collateral orders at all, and a newly listed market takes only post-only limits)';

/**
 * Whether the exchange says that there is no such open order.
 *
 * Code 2 alone is ambiguous (a disabled key has it too); only together with the order id, in the words of either
 * dialect, it means "not found".
 */
export function isOrderNotOpen({ failure }: ExchangeError): boolean {
  return (
    failure.kind === 'rejected' &&
    failure.exchangeCode === 2 &&
    ('orderId' in failure.errors || 'order_id' in failure.errors)
  );
}

/**
 * Whether the exchange says that the account or its key may not have what was asked for, which stays so until either
 * is another one. A disabled key is refused with another code: it may be enabled any day.
 */
export function isDenied({ failure }: ExchangeError): boolean {
  return (
    failure.kind === 'rejected' &&
    failure.httpStatus === 403 &&
    (failure.exchangeCode === 0 || failure.exchangeCode === 4)
  );
}
