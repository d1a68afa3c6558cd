import type { Clock } from './clock.ts';
import { pickHeaders } from './http-head.ts';
import type { ReadResponse } from './http-response.ts';
import type { WireOutcome, WireRequest } from './wire.ts';

/** What has a request at the moment: the connection it was given to, or those that wait for one. */
export interface Holder {
  /** Gives the request up, and ends it with this reason. */
  abandon(delivery: Delivery, reason: string): void;
}

/** One request on its way, and what is proven about it. */
export class Delivery {
  readonly outcome: Promise<WireOutcome>;
  readonly request: WireRequest;
  /** The request's bytes, as text that is ASCII (`latin1`) or not (`utf8`). */
  readonly text: string;
  readonly encoding: 'latin1' | 'utf8';
  holder: Holder | null = null;
  readonly #resolve: (outcome: WireOutcome) => void;
  readonly #clock: Clock;
  readonly #startedAtMs = performance.now();
  readonly #startedAtClockMs: number;
  #timer: NodeJS.Timeout | null = null;
  #isWritten = false;
  #isEnded = false;

  constructor(request: WireRequest, text: string, encoding: 'latin1' | 'utf8', clock: Clock) {
    const { promise, resolve } = Promise.withResolvers<WireOutcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.request = request;
    this.text = text;
    this.encoding = encoding;
    this.#clock = clock;
    this.#startedAtClockMs = clock.nowMs();
  }

  /** When the request ends unless more becomes known of it, on the clock of `performance.now()`. */
  get dueMs(): number {
    return this.#startedAtMs + (this.#isWritten ? this.request.timeoutMs : this.#connectMs);
  }

  /** Until when the request may be written, after its start. */
  get #connectMs(): number {
    return Math.min(this.request.connectTimeoutMs, this.request.timeoutMs);
  }

  /**
   * Whether it is too late to write the request. While a machine is suspended, its steady clock stands still; hours later,
   * an order must not go out because a connection was just made.
   */
  isOverdue(): boolean {
    return performance.now() > this.dueMs || this.#clock.nowMs() - this.#startedAtClockMs > this.#connectMs;
  }

  /** To be called before the first byte is handed to a connection, so that every later failure is `ambiguous`. */
  markWritten(): void {
    this.#isWritten = true;
    if (this.#timer !== null) this.startTimer();
  }

  /** Called last: a request that was written at once, as most are, then needs one timer only. */
  startTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#isEnded) return;
    this.#timer = setTimeout(() => this.expire(), Math.max(1, this.dueMs - performance.now()));
  }

  /** Ends the request, because its time is up. */
  expire(): void {
    const reason = this.#isWritten
      ? `no response within ${this.request.timeoutMs} ms`
      : `no connection within ${this.#connectMs} ms`;
    this.holder?.abandon(this, reason);
  }

  /** Ends the request without a response: `ambiguous` once it was written to a connection, else `not_sent`. */
  fail(reason: string): void {
    this.#end(
      this.#isWritten
        ? { kind: 'ambiguous', reason: `the response was lost after the request was written: ${reason}` }
        : { kind: 'not_sent', reason: `no connection to ${this.request.baseUrl}: ${reason}` },
    );
  }

  succeed({ head, body }: ReadResponse): void {
    const { wantedHeaders } = this.request;
    const { status } = head;
    this.#end(
      wantedHeaders === undefined
        ? { kind: 'answered', status, body }
        : { kind: 'answered', status, body, headers: pickHeaders(head, wantedHeaders) },
    );
  }

  #end(outcome: WireOutcome): void {
    this.#isEnded = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#resolve(outcome);
  }
}
