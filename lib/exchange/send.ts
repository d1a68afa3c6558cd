import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { readAnswer, type Verdict } from './answer.ts';
import type { Dialect } from './dialect.ts';
import type { Endpoint, ResultOf } from './endpoint.ts';
import { ExchangeError, type FailedAttempt, type Failure } from './errors.ts';
import type { Lane } from './nonce.ts';
import type { RateBudget } from './rate-limit.ts';
import type { Transport, WireRequest } from './transport.ts';

/** The bytes of one attempt, and the parts of them that no message may repeat. */
export interface Message extends Omit<WireRequest, 'connectTimeoutMs' | 'timeoutMs'> {
  readonly withheld: readonly string[];
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

/** A connection takes well under a second; one that hangs is worth another try. */
const connectTimeoutMs = 3000;
/** Another worker of the same key can draw the same millisecond; five times in a row it is something else. */
const maximumNonceRetries = 5;
const firstPauseMs = 200;
const maximumPauseMs = 5000;

/**
 * Sends until there is an answer, nothing is left to try, or the time is up.
 *
 * What must not happen twice is tried again only when it provably was not taken in.
 *
 * @param limits `timeoutMs` for everything: waiting, attempts and pauses; no attempt starts after `notAfterMs`
 * @throws ExchangeError with every attempt
 */
export async function sendRequest<E extends Endpoint>(
  sending: Sending<E>,
  wire: Wire,
  limits: { readonly timeoutMs: number; readonly notAfterMs: number },
): Promise<ResultOf<E>> {
  const deadlineMs = wire.clock.nowMs() + limits.timeoutMs;
  const lastStartMs = Math.min(deadlineMs, limits.notAfterMs);
  const pauses = createPauses(wire.random);
  const earlier: FailedAttempt[] = [];
  for (;;) {
    const ending = await attempt(sending, wire, deadlineMs, lastStartMs);
    if (ending.kind === 'accepted') return ending.result;
    const failed = { atMs: wire.clock.nowMs(), failure: failureOf(ending) };
    const pauseMs = pauses.nextMs(ending);
    if (!mayTryAgain(sending.endpoint, ending.kind) || failed.atMs + pauseMs >= lastStartMs)
      throw new ExchangeError(sending.endpoint.name, [...earlier, failed]);
    earlier.push(failed);
    if (pauseMs > 0) await wire.clock.sleep(pauseMs);
  }
}

/** How one attempt ended. Held back means that its turn does not come before the time is up. */
type Ending<Result> = Verdict<Result> | { readonly kind: 'held_back'; readonly reason: string };

async function attempt<E extends Endpoint>(
  sending: Sending<E>,
  wire: Wire,
  deadlineMs: number,
  lastStartMs: number,
): Promise<Ending<ResultOf<E>>> {
  const heldBack = await waitForTurn(sending, wire.clock, lastStartMs);
  if (heldBack !== null) return { kind: 'held_back', reason: heldBack };
  try {
    const { withheld, ...message } = sending.compose();
    const timeoutMs = attemptTimeoutMs(sending.endpoint, deadlineMs - wire.clock.nowMs());
    const outcome = await wire.transport.send({ ...message, connectTimeoutMs, timeoutMs });
    if (outcome.kind !== 'answered') return outcome;
    return readAnswer(sending.endpoint, sending.dialect, outcome, withheld);
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

function mayTryAgain({ repeatable }: Endpoint, kind: Ending<never>['kind']): boolean {
  const isProvenUntaken = kind === 'not_sent' || kind === 'rate_limited' || kind === 'nonce_refused';
  return isProvenUntaken || (kind === 'ambiguous' && repeatable);
}

function failureOf(ending: Exclude<Ending<never>, { kind: 'accepted' }>): Failure {
  if (ending.kind === 'held_back') return { kind: 'not_sent', reason: ending.reason };
  if (ending.kind !== 'nonce_refused') return ending;
  return {
    kind: 'rate_limited',
    reason:
      "HTTP 429: the exchange refused the nonce; another program uses this key, or this machine's clock is off",
  };
}

/** How long to wait after each failure: a refused nonce asks for a new one at once, all else for patience. */
function createPauses(random: Random): { nextMs(ending: Pick<Ending<never>, 'kind'>): number } {
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
