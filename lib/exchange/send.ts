import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { Dialect } from './dialect.ts';
import type { Endpoint, ResultOf } from './endpoint.ts';
import { ExchangeError, type FailedAttempt, type Failure } from './errors.ts';
import type { Lane } from './nonce.ts';
import type { RateBudget } from './rate-limit.ts';
import { readResponse, type Verdict } from './response.ts';
import type { Transport, WireRequest } from './transport.ts';

/** The bytes of one attempt, and the parts of them that no message may repeat. */
export interface Message extends Omit<WireRequest, 'connectTimeoutMs' | 'timeoutMs'> {
  readonly redacted: readonly string[];
}

/** What is to be sent, and what it has to wait for. */
export interface Sending<E extends Endpoint> {
  readonly endpoint: E;
  readonly dialect: Dialect;
  readonly budget: RateBudget;
  /** Where it waits for others of its key; null when the order of arrival does not matter. */
  readonly lane: Lane | null;
  /** Builds the next attempt's bytes; a private request takes a fresh nonce here. */
  compose(): Message;
}

/** What sending needs of the world. */
export interface Wire {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Looks whether anything is there of a request that was answered with HTTP 429; true: nothing is, it may be sent again.
 * Whatever keeps the look from telling is a reason to say false.
 */
export type MaySendAgain = (limits: {
  readonly timeoutMs: number;
  readonly notAfterMs: number;
}) => Promise<boolean>;

/** A connection takes well under a second; one that hangs is worth another try. */
const longestConnectMs = 3000;
/** Another worker of the same key can draw the same millisecond; five times in a row it is something else. */
const maximumNonceRetries = 5;
/** Each create that is answered with HTTP 429 can have been taken in all the same: this many, and it is looked into. */
const maximumCreates = 3;
/**
 * A create that got HTTP 429 is not sent again later than this after the first one was sent. Had the first one been
 * accepted all the same, it could be filled by then, and no list need show it yet: the exchange would take a second order.
 */
const longestResendMs = 2000;
/** An attempt that has no time left for its response turns what was provably never sent into what nobody knows. */
const leastResponseMs = 1000;
const firstPauseMs = 200;
const maximumPauseMs = 5000;

/**
 * Sends until there is a response, nothing is left to try, or the time is up.
 *
 * What must not happen twice is tried again only when it provably never left, or after HTTP 429, a few times, when
 * `maySendAgain` has looked and lets it; and never when it is no longer the caller's to send.
 *
 * @param limits `timeoutMs` for everything: waiting, attempts, looks and pauses; no attempt starts after `notAfterMs`
 * @throws ExchangeError with every attempt
 */
export async function sendRequest<E extends Endpoint>(
  sending: Sending<E>,
  wire: Wire,
  limits: {
    readonly timeoutMs: number;
    readonly notAfterMs: number;
    readonly maySendAgain?: MaySendAgain | undefined;
    readonly isStillOwn?: (() => Promise<boolean>) | undefined;
  },
): Promise<ResultOf<E>> {
  const { endpoint } = sending;
  const { clock } = wire;
  const times = timesOf(endpoint, clock.nowMs(), limits);
  const pauses = createPauses(wire.random);
  let earlier: readonly FailedAttempt[] = [];
  let turnedAway = 0;
  let resendUntilMs = Number.POSITIVE_INFINITY;
  for (;;) {
    const { outcome, sentAtMs } = await attempt(sending, wire, times);
    if (outcome.kind === 'accepted') return outcome.result;
    if (isTurnedAway(outcome.kind)) turnedAway += 1;
    if (turnedAway > 0 && !endpoint.repeatable)
      resendUntilMs = Math.min(resendUntilMs, sentAtMs + longestResendMs);
    const failedAtMs = clock.nowMs();
    const attempts = [...earlier, { atMs: failedAtMs, failure: failureOf(endpoint, outcome) }] as const;
    const pauseMs = pauses.nextMs(outcome);
    if (!mayTryAgain(endpoint, outcome.kind, turnedAway) || failedAtMs + pauseMs >= times.lastStartMs)
      throw new ExchangeError(endpoint, attempts);
    if (pauseMs > 0) await clock.sleep(pauseMs);
    const mustLookUp = !endpoint.repeatable && turnedAway > 0;
    if (mustLookUp && (await limits.maySendAgain?.(lookupLimits(times, clock))) !== true)
      throw new ExchangeError(endpoint, attempts);
    if (!endpoint.repeatable && (await limits.isStillOwn?.()) === false)
      throw new ExchangeError(endpoint, attempts);
    if (clock.nowMs() > resendUntilMs) throw new ExchangeError(endpoint, attempts);
    earlier = attempts;
  }
}

interface Times {
  readonly deadlineMs: number;
  /** An attempt begins before this, or not at all. */
  readonly lastStartMs: number;
  /** Kept for the response at the end of an attempt. */
  readonly responseMs: number;
}

function timesOf(
  { repeatable }: Endpoint,
  nowMs: number,
  { timeoutMs, notAfterMs }: { readonly timeoutMs: number; readonly notAfterMs: number },
): Times {
  const responseMs = repeatable ? 0 : Math.min(leastResponseMs, Math.floor(timeoutMs / 4));
  const deadlineMs = nowMs + timeoutMs;
  return { deadlineMs, responseMs, lastStartMs: Math.min(deadlineMs - responseMs, notAfterMs) };
}

/** A look that hangs must leave time to send. */
function lookupLimits({ lastStartMs }: Times, clock: Clock) {
  return { timeoutMs: Math.floor((lastStartMs - clock.nowMs()) / 2), notAfterMs: lastStartMs };
}

/** How one attempt ended. Held back means that its turn does not come before the time is up. */
type Outcome<Result> = Verdict<Result> | { readonly kind: 'held_back'; readonly reason: string };

async function attempt<E extends Endpoint>(
  sending: Sending<E>,
  wire: Wire,
  { deadlineMs, lastStartMs, responseMs }: Times,
): Promise<{ readonly outcome: Outcome<ResultOf<E>>; readonly sentAtMs: number }> {
  const heldBack = await waitForTurn(sending, wire.clock, lastStartMs);
  const sentAtMs = wire.clock.nowMs();
  if (heldBack !== null) return { outcome: { kind: 'held_back', reason: heldBack }, sentAtMs };
  try {
    const { redacted, ...message } = sending.compose();
    const leftMs = deadlineMs - sentAtMs;
    const timeoutMs = attemptTimeoutMs(sending.endpoint, leftMs);
    // Nothing is written before the connection stands: one that takes too long must not eat the time for the response.
    const connectTimeoutMs = Math.min(longestConnectMs, Math.max(1, leftMs - responseMs));
    const outcome = await wire.transport.send({ ...message, connectTimeoutMs, timeoutMs });
    if (outcome.kind !== 'answered') return { outcome, sentAtMs };
    return { outcome: readResponse(sending.endpoint, sending.dialect, outcome, redacted), sentAtMs };
  } finally {
    sending.lane?.leave();
  }
}

/** Resolves with null once the request may go, or with the reason why it will not in time. */
async function waitForTurn<E extends Endpoint>(
  { endpoint, budget, lane }: Sending<E>,
  clock: Clock,
  lastStartMs: number,
): Promise<string | null> {
  for (;;) {
    const leftMs = lastStartMs - clock.nowMs();
    if (leftMs <= 0) return 'the time was up before it could be sent';
    if (lane !== null && !(await enterInTime(lane, leftMs, clock, lastStartMs)))
      return 'the time was up while other requests of the same key were on their way';
    // Counted last and undone by nobody: a budget spent while waiting for the lane would not be exact.
    const waitMs = budget.take();
    if (waitMs === 0) return null;
    lane?.leave();
    if (waitMs >= lastStartMs - clock.nowMs())
      return `the ${endpoint.requestsPer10s} requests the exchange takes in 10 s are used up for another ${waitMs} ms`;
    await clock.sleep(waitMs);
  }
}

/** A turn that comes at the last moment, or on a clock that runs ahead of the lane's timer, comes too late. */
async function enterInTime(lane: Lane, leftMs: number, clock: Clock, lastStartMs: number): Promise<boolean> {
  if (!(await lane.enter(leftMs))) return false;
  if (clock.nowMs() < lastStartMs) return true;
  lane.leave();
  return false;
}

/** A try that hangs must leave time for another, where another is allowed. */
function attemptTimeoutMs({ repeatable }: Endpoint, leftMs: number): number {
  return repeatable ? Math.max(Math.ceil(leftMs / 2), Math.min(leftMs, 1000)) : leftMs;
}

function mayTryAgain({ repeatable }: Endpoint, kind: Outcome<never>['kind'], turnedAway: number): boolean {
  if (kind === 'not_sent') return true;
  if (isTurnedAway(kind)) return repeatable || turnedAway < maximumCreates;
  return kind === 'ambiguous' && repeatable;
}

function isTurnedAway(kind: Outcome<never>['kind']): boolean {
  return kind === 'rate_limited' || kind === 'nonce_refused';
}

type FailedOutcome = Exclude<Outcome<never>, { kind: 'accepted' }>;

function failureOf({ repeatable }: Endpoint, outcome: FailedOutcome): Failure {
  if (outcome.kind === 'held_back') return { kind: 'not_sent', reason: outcome.reason };
  if (outcome.kind !== 'nonce_refused' && outcome.kind !== 'rate_limited') return outcome;
  const reason = outcome.kind === 'nonce_refused' ? nonceRefused : outcome.reason;
  // A gateway can answer 429 for a request that got through.
  return repeatable
    ? { kind: 'rate_limited', reason }
    : { kind: 'ambiguous', reason: `${reason}, which does not prove that nothing was taken in` };
}

const nonceRefused =
  "HTTP 429: the exchange refused the nonce; another program uses this key, or this machine's clock is off";

/** How long to wait after each failure: a refused nonce asks for a new one at once, all else for patience. */
function createPauses(random: Random): { nextMs(outcome: Pick<Outcome<never>, 'kind'>): number } {
  let nonceRefusals = 0;
  let longestMs = firstPauseMs;
  return {
    nextMs({ kind }) {
      if (kind === 'nonce_refused' && nonceRefusals < maximumNonceRetries) {
        nonceRefusals += 1;
        return 0;
      }
      // Between half and the whole, so that callers that failed together do not come back together.
      const pauseMs = longestMs * (0.5 + random() / 2);
      longestMs = Math.min(longestMs * 2, maximumPauseMs);
      return pauseMs;
    },
  };
}
