/** One request, ready for the wire. */
export interface WireRequest {
  /** Scheme, host and port. */
  readonly baseUrl: string;
  readonly method: string;
  readonly path: string;
  /** `Host`, `Content-Length` and `Connection` are added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** From the call until the connection is made. */
  readonly connectTimeoutMs: number;
  /** From the call until the whole response has arrived. */
  readonly timeoutMs: number;
  /** Names, in lower case, of the response headers that the caller reads. Absent: none. */
  readonly wantedHeaders?: readonly string[];
  /** Absent: every response is taken for the response to this request. */
  readonly confirmation?: Confirmation;
}

/**
 * A `GET` that is asked on the same connection after a refusal (HTTP 400 to 499 without 429). Responses come in the order
 * of their requests. So the response that it must get proves that the refusal belonged to the request before it, and was
 * no surplus response of a confused server.
 *
 * @see DECISIONS 164
 */
export interface Confirmation {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  isExpected(response: Pick<WireResponse, 'status' | 'body'>): boolean;
}

export interface WireResponse {
  readonly kind: 'answered';
  readonly status: number;
  readonly body: string;
  /** Those of the wanted headers that the response has. Absent: the request wanted none. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that got no response, classified by what is proven. */
export type WireFailure =
  /** Not one byte of the request was written to a connection. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /** The request may or may not have arrived. */
  | { readonly kind: 'ambiguous'; readonly reason: string };

export type WireOutcome = WireResponse | WireFailure;

/** Sends requests over connections that stay open between requests. */
export interface Transport {
  /** Network failures are outcomes, not exceptions. */
  send(request: WireRequest): Promise<WireOutcome>;
  /** Closes every connection. Requests in flight end as `not_sent` or `ambiguous`, whichever is proven. */
  close(): void;
}
