import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { checkToken } from '../../lib/signals/authenticate.ts';

/** What of a request decides whether it is answered. */
export interface GuardedRequest {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** Why a request is refused. */
export interface PageRefusal {
  readonly httpStatus: 401 | 403 | 405 | 421;
  readonly code: string;
  readonly message: string;
  readonly action: string;
}

/** Decides who may use the page. One guard is made at each start, with secrets of its own. */
export interface PageGuard {
  /** Goes into the URL that is printed to a terminal; whoever has it can use the page until this process ends. */
  readonly token: string;
  /** Null when the request may be answered. */
  judge(request: GuardedRequest): PageRefusal | null;
  /** The cookie to set for the right token; null for a wrong one. */
  enter(token: unknown): string | null;
}

/** Where the page hands in its token. */
export const enterPath = '/api/enter';

/**
 * Makes the guard of one server.
 *
 * A page of another site cannot use this one: its requests carry a foreign `Host` when it has pointed its own name at this
 * machine, a foreign `Origin` or `Sec-Fetch-Site` otherwise, and never the cookie.
 *
 * @param port the port that the server listens on
 * @param ownHosts further names, with a port unless it is the usual one, under which the owner's own tunnel reaches it
 * @see https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Sec-Fetch-Site
 */
export function createPageGuard(port: number, ownHosts: readonly string[] = []): PageGuard {
  const token = randomBytes(32).toString('base64url');
  // Not the token itself: that stays in the history of a browser.
  const session = randomBytes(32).toString('base64url');
  // A cookie belongs to a host and not to a port: two pages on one machine must not take each other's.
  const cookieName = `relay-page-${port}`;
  // The server itself speaks http; what a tunnel speaks is for its owner to choose.
  const origins = new Map<string, readonly string[]>([
    ...[`127.0.0.1:${port}`, `localhost:${port}`].map((host) => [host, [`http://${host}`]] as const),
    ...ownHosts.map((name) => {
      const host = name.toLowerCase();
      return [host, [`http://${host}`, `https://${host}`]] as const;
    }),
  ]);

  function judge({ method, path, headers }: GuardedRequest): PageRefusal | null {
    const own = origins.get((headers.host ?? '').toLowerCase());
    if (own === undefined) return foreignHost;
    if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') return wrongMethod;
    if (isForeign(headers, method, own)) return foreignOrigin;
    if (!path.startsWith('/api/') || path === enterPath) return null;
    return checkToken(readCookie(headers.cookie, cookieName), [session]) ? null : noToken;
  }

  return {
    token,
    judge,
    enter: (given) =>
      typeof given === 'string' && checkToken(given, [token])
        ? `${cookieName}=${session}; Path=/; HttpOnly; SameSite=Strict`
        : null,
  };
}

/** A request that may change something must say where it comes from; browsers add it to each of them. */
function isForeign(
  { origin, ...headers }: IncomingHttpHeaders,
  method: string,
  own: readonly string[],
): boolean {
  if (origin === undefined) {
    if (method === 'POST') return true;
  } else if (!own.includes(origin.toLowerCase())) return true;
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return false;
  // A link on another page may lead here: what it opens holds nothing, and the cookie does not come along.
  return method === 'POST' || headers['sec-fetch-mode'] !== 'navigate';
}

function readCookie(cookies: string | undefined, name: string): string {
  const pairs = (cookies ?? '').split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([key]) => key === name)?.[1] ?? '';
}

const foreignHost: PageRefusal = {
  httpStatus: 421,
  code: 'foreign_host',
  message: 'the page is not served under this name',
  action: 'Use the URL that the relay printed. For a tunnel of your own, name its host with --host.',
};

const wrongMethod: PageRefusal = {
  httpStatus: 405,
  code: 'method_not_allowed',
  message: 'the page takes GET and POST',
  action: 'Use the page itself.',
};

const foreignOrigin: PageRefusal = {
  httpStatus: 403,
  code: 'foreign_origin',
  message: 'the request comes from another site',
  action: 'Use the URL that the relay printed.',
};

const noToken: PageRefusal = {
  httpStatus: 401,
  code: 'no_token',
  message:
    'the page has no session with this relay: it was opened without its token, or the relay was restarted',
  action: 'Open the URL that the relay printed at its start, with its token.',
};
