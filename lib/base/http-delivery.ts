import type { Dated } from './deadlines.ts';
import { pickHeaders } from './http-head.ts';
import type { ReadResponse } from './http-response.ts';
import type { WireOutcome, WireRequest } from './wire.ts';

/** What has a request at the moment: the connection it was given to, or those that wait for one. */
export interface Holder {
  /** Gives the request up, and ends it with this reason. */
  abandon(delivery: Delivery, reason: string): void;
}

/** One request on its way, and what is proven about it. */
export class Delivery implements Dated {
  readonly outcome: Promise<WireOutcome>;
  readonly request: WireRequest;
  /** The request's bytes, as text that is ASCII (`latin1`) or not (`utf8`). */
  readonly text: string;
  readonly encoding: 'latin1' | 'utf8';
  holder: Holder | null = null;
  readonly #resolve: (outcome: WireOutcome) => void;
  readonly #startedAtMs = performance.now();
  #isWritten = false;

  constructor(request: WireRequest, text: string, encoding: 'latin1' | 'utf8') {
    const { promise, resolve } = Promise.withResolvers<WireOutcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.request = request;
    this.text = text;
    this.encoding = encoding;
  }

  get dueMs(): number {
    const { connectTimeoutMs, timeoutMs } = this.request;
    return this.#startedAtMs + (this.#isWritten ? timeoutMs : Math.min(connectTimeoutMs, timeoutMs));
  }

  isOverdue(): boolean {
    return performance.now() > this.dueMs;
  }

  /** To be called before the first byte is handed to a connection, so that every later failure is `ambiguous`. */
  markWritten(): void {
    this.#isWritten = true;
  }

  expire(): void {
    const { connectTimeoutMs, timeoutMs } = this.request;
    this.interrupt(
      this.#isWritten
        ? `no response within ${timeoutMs} ms`
        : `no connection within ${Math.min(connectTimeoutMs, timeoutMs)} ms`,
    );
  }

  /** Ends the request from outside, and whatever holds it lets go of it. */
  interrupt(reason: string): void {
    this.holder?.abandon(this, reason);
  }

  /** Ends the request without a response: `ambiguous` once it was written to a connection, else `not_sent`. */
  fail(reason: string): void {
    this.#resolve(
      this.#isWritten
        ? { kind: 'ambiguous', reason: `the response was lost after the request was written: ${reason}` }
        : { kind: 'not_sent', reason: `no connection to ${this.request.baseUrl}: ${reason}` },
    );
  }

  succeed({ head, body }: ReadResponse): void {
    const { wantedHeaders } = this.request;
    const { status } = head;
    this.#resolve(
      wantedHeaders === undefined
        ? { kind: 'answered', status, body }
        : { kind: 'answered', status, body, headers: pickHeaders(head, wantedHeaders) },
    );
  }
}
