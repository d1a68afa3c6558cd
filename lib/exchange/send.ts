import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { Transport, WireRequest } from '../base/wire.ts';
import type { Dialect } from './dialect.ts';
import type { Endpoint, ResultOf } from './endpoint.ts';
import { ExchangeError, type FailedAttempt, type Failure, wouldRecur } from './errors.ts';
import type { Lane } from './nonce.ts';
import type { RateBudget } from './rate-limit.ts';
import { readResponse, type Verdict } from './response.ts';

/** The bytes of one attempt, and the parts of them that no error or log may contain. */
export interface Message extends Omit<WireRequest, 'connectTimeoutMs' | 'timeoutMs'> {
  readonly redacted: readonly string[];
}

/** A request to send, and what it has to wait for. */
export interface Sending<E extends Endpoint> {
  readonly endpoint: E;
  readonly dialect: Dialect;
  readonly budget: RateBudget;
  /** Where the request waits for others with the same key; null when the order of arrival does not matter. */
  readonly lane: Lane | null;
  /** Builds the bytes of the next attempt. A private request takes a new nonce here. */
  compose(): Message;
}

/** The transport, clock and randomness that sending needs. */
export interface Wire {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * A connection takes well under a second. If it takes longer than this, another attempt is better than
 * waiting.
 */
const longestConnectMs = 3000;
/**
 * Another worker with the same key can use the same millisecond. Five times in a row, the cause is another
 * one.
 */
const maximumNonceRetries = 5;
/**
 * Without time for the response, an attempt turns a request that was provably never sent into an ambiguous
 * one.
 */
const leastResponseMs = 1000;
const firstPauseMs = 200;
const maximumPauseMs = 5000;
/** The exchange asks for it, after a 429 that is about its rate limit. */
const firstBackOffMs = 1000;
const maximumBackOffMs = 30_000;

/**
 * Sends until there is a conclusive response, no retry is allowed, or the time is up.
 *
 * A request that must not be repeated is tried again in one case only: it provably never left this machine. It is never
 * tried again once `isStillOwn` returns false.
 *
 * @param limits `timeoutMs` covers everything: waiting, attempts and pauses. No attempt starts after `notAfterMs`.
 * @throws ExchangeError with every attempt
 * @see DECISIONS 9
 */
export async function sendRequest<E extends Endpoint>(
  sending: Sending<E>,
  wire: Wire,
  limits: {
    readonly timeoutMs: number;
    readonly notAfterMs: number;
    readonly isStillOwn?: (() => Promise<boolean>) | undefined;
  },
): Promise<ResultOf<E>> {
  const { endpoint } = sending;
  const { clock } = wire;
  let times = timesOf(endpoint, clock.nowMs(), limits);
  const pauses = createPauses(wire.random);
  let earlier: readonly FailedAttempt[] = [];
  for (;;) {
    // A clock that was set back in between must not make the time longer.
    times = earlierOf(times, timesOf(endpoint, clock.nowMs(), limits));
    const outcome = await attempt(sending, wire, times);
    if (outcome.kind === 'accepted') return outcome.result;
    const failedAtMs = clock.nowMs();
    const attempts = [...earlier, { atMs: failedAtMs, failure: failureOf(endpoint, outcome) }] as const;
    const pauseMs = pauses.nextMs(outcome);
    if (!mayTryAgain(endpoint, outcome) || wouldRecur(attempts) || failedAtMs + pauseMs >= times.lastStartMs)
      throw new ExchangeError(endpoint, attempts);
    if (pauseMs > 0) await clock.sleep(pauseMs);
    if (!endpoint.repeatable && (await limits.isStillOwn?.()) === false)
      throw new ExchangeError(endpoint, attempts);
    earlier = attempts;
  }
}

interface Times {
  readonly deadlineMs: number;
  /** No attempt starts at this time or later. */
  readonly lastStartMs: number;
}

function timesOf(
  { repeatable }: Endpoint,
  nowMs: number,
  { timeoutMs, notAfterMs }: { readonly timeoutMs: number; readonly notAfterMs: number },
): Times {
  // Reserved at the end of an attempt for the response.
  const responseMs = repeatable ? 0 : Math.min(leastResponseMs, Math.floor(timeoutMs / 4));
  const deadlineMs = nowMs + timeoutMs;
  return { deadlineMs, lastStartMs: Math.min(deadlineMs - responseMs, notAfterMs) };
}

function earlierOf(one: Times, other: Times): Times {
  return {
    deadlineMs: Math.min(one.deadlineMs, other.deadlineMs),
    lastStartMs: Math.min(one.lastStartMs, other.lastStartMs),
  };
}

/** How one attempt ended. `held_back`: its turn did not come before the time was up, so nothing was sent. */
type Outcome<Result> = Verdict<Result> | { readonly kind: 'held_back'; readonly reason: string };

async function attempt<E extends Endpoint>(
  sending: Sending<E>,
  wire: Wire,
  { deadlineMs, lastStartMs }: Times,
): Promise<Outcome<ResultOf<E>>> {
  const heldBack = await waitForTurn(sending, wire.clock, lastStartMs);
  const sentAtMs = wire.clock.nowMs();
  if (heldBack !== null) return { kind: 'held_back', reason: heldBack };
  try {
    const { redacted, ...message } = sending.compose();
    const leftMs = deadlineMs - sentAtMs;
    const timeoutMs = attemptTimeoutMs(sending.endpoint, leftMs);
    // Until the connection is made, nothing is written: a slow one must not delay the request beyond its time.
    const connectTimeoutMs = Math.min(longestConnectMs, Math.max(1, lastStartMs - sentAtMs));
    const outcome = await wire.transport.send({ ...message, connectTimeoutMs, timeoutMs });
    if (outcome.kind !== 'answered') return outcome;
    return readResponse(sending.endpoint, sending.dialect, outcome, redacted);
  } finally {
    sending.lane?.leave();
  }
}

/** Resolves with null once the request may be sent, or with the reason why it cannot be sent in time. */
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
    // The budget is taken last and never given back. Taken before the wait for the lane, its times would be
    // wrong.
    const waitMs = budget.take();
    if (waitMs === 0) return null;
    lane?.leave();
    if (waitMs >= lastStartMs - clock.nowMs())
      return `the limit of ${endpoint.requestsPer10s} requests in 10 s is used up for another ${waitMs} ms`;
    await clock.sleep(waitMs);
  }
}

/** A turn may come too late: at the last moment, or when the clock runs ahead of the lane's timer. */
async function enterInTime(lane: Lane, leftMs: number, clock: Clock, lastStartMs: number): Promise<boolean> {
  if (!(await lane.enter(leftMs))) return false;
  if (clock.nowMs() < lastStartMs) return true;
  lane.leave();
  return false;
}

/** Where a retry is allowed, an attempt that hangs must leave time for it. */
function attemptTimeoutMs({ repeatable }: Endpoint, leftMs: number): number {
  return repeatable ? Math.max(Math.ceil(leftMs / 2), Math.min(leftMs, 1000)) : leftMs;
}

function mayTryAgain({ repeatable }: Endpoint, outcome: FailedOutcome): boolean {
  const { kind } = outcome;
  if (kind === 'not_sent') return true;
  return repeatable && (kind === 'ambiguous' || kind === 'rate_limited' || kind === 'nonce_refused');
}

type FailedOutcome = Exclude<Outcome<never>, { kind: 'accepted' }>;

function failureOf({ repeatable }: Endpoint, outcome: FailedOutcome): Failure {
  if (outcome.kind === 'held_back') return { kind: 'not_sent', reason: outcome.reason };
  if (outcome.kind !== 'nonce_refused' && outcome.kind !== 'rate_limited') return outcome;
  const reason = outcome.kind === 'nonce_refused' ? nonceRefused : outcome.reason;
  // A gateway can respond with 429 to a request that got through.
  return repeatable
    ? { kind: 'rate_limited', reason }
    : {
        kind: 'ambiguous',
        cause: 'turned_away',
        reason: `${reason}; the exchange may have processed the request all the same`,
      };
}

const nonceRefused =
  "HTTP 429: the exchange refused the nonce; another program uses this key, or this machine's clock is off";

/**
 * How long to wait after each failure. A refused nonce is replaced at once; after a rate limit the waits are longer.
 */
function createPauses(random: Random): { nextMs(outcome: Pick<Outcome<never>, 'kind'>): number } {
  let nonceRefusals = 0;
  let longestMs = firstPauseMs;
  let shortestMs = firstBackOffMs;
  return {
    nextMs({ kind }) {
      if (kind === 'nonce_refused' && nonceRefusals < maximumNonceRetries) {
        nonceRefusals += 1;
        return 0;
      }
      // The share of chance: callers that failed together do not try again together.
      if (kind === 'rate_limited') {
        const pauseMs = Math.min(shortestMs * (1 + random() / 2), maximumBackOffMs);
        shortestMs = Math.min(shortestMs * 2, maximumBackOffMs);
        return pauseMs;
      }
      const pauseMs = longestMs * (0.5 + random() / 2);
      longestMs = Math.min(longestMs * 2, maximumPauseMs);
      return pauseMs;
    },
  };
}
