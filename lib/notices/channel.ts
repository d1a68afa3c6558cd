import type { WireRequest, WireResponse } from '../base/wire.ts';
import type { NoticeMessage } from './notice-message.ts';
import type { ChannelName } from './notice-settings.ts';

/** A request of a channel. The whole of it may be secret: where it goes is as secret as what signs it. */
export type NoticeRequest = Pick<WireRequest, 'baseUrl' | 'path' | 'headers' | 'body'>;

/** How a channel is reached: what its owner gave, checked. */
export type Way = Readonly<Record<string, string>>;

/** What became of a request. */
export type Sent =
  | { readonly kind: 'sent' }
  /** The service asks to wait. */
  | { readonly kind: 'wait'; readonly forMs: number; readonly reason: string }
  /** The reason never holds a secret. */
  | { readonly kind: 'failed'; readonly reason: string };

/** A field of a way, as it is asked for. */
export interface WayField {
  readonly name: string;
  readonly question: string;
  readonly isRequired: boolean;
  isFit(text: string): boolean;
}

/** A service that brings notices to a person. */
export interface Channel {
  readonly name: ChannelName;
  readonly fields: readonly WayField[];
  /** Whether one request can tell the message whole. */
  fits(message: NoticeMessage): boolean;
  /** Composes the one request of a message; what is too long is cut. @param atMs when it is sent */
  compose(message: NoticeMessage, way: Way, atMs: number): NoticeRequest;
  /** Judges an answer of the service. */
  judge(answer: WireResponse): Sent;
}

/** The response headers that some service says how long to wait with. */
export const retryHeader = 'retry-after';
const shortestWaitMs = 1_000;
/** An alarm must not wait for longer, whatever the service says. */
const longestWaitMs = 300_000;
const usualWaitMs = 30_000;

/** @param seconds as the service says them; NaN when it does not */
export function waitFor(seconds: number): Sent {
  const askedMs = Number.isFinite(seconds) ? Math.ceil(seconds * 1000) : usualWaitMs;
  const forMs = Math.min(longestWaitMs, Math.max(shortestWaitMs, askedMs));
  return { kind: 'wait', forMs, reason: `it asks to wait ${Math.ceil(forMs / 1000)} s` };
}

/** The seconds that the header names; NaN for a date, and without one. */
export function secondsIn({ headers }: WireResponse): number {
  const text = headers?.[retryHeader] ?? '';
  return text === '' ? Number.NaN : Number(text);
}

/** What every service has in common: 2xx is success, 429 a request to wait. */
export function judgeStatus(answer: WireResponse): Sent {
  if (answer.status >= 200 && answer.status < 300) return { kind: 'sent' };
  if (answer.status === 429) return waitFor(secondsIn(answer));
  return { kind: 'failed', reason: `it answered HTTP ${answer.status}` };
}

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' };

/** Splits a URL for the transport. */
export function requestTo(
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): NoticeRequest {
  const { origin, pathname, search } = new URL(url);
  return {
    baseUrl: origin,
    path: `${pathname}${search}`,
    headers: { ...jsonHeaders, ...headers },
    body: JSON.stringify(body),
  };
}

/** Https, or http on this machine. */
export function isSafeUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return false;
  const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere);
}
