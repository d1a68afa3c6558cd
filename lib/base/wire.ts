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
