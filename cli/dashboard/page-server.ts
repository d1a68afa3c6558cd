import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeError } from '../../lib/base/describe-error.ts';
import { readJson } from '../../lib/base/json.ts';
import { readBodyStart } from '../../lib/base/read-body.ts';
import { createPageGuard, enterPath, type PageGuard, type PageRefusal } from './guard.ts';

/** What the page is made of, by its path. */
export interface Asset {
  readonly type: string;
  readonly body: Buffer | string;
}

/** The result of a call of the page. */
export interface ApiAnswer {
  readonly httpStatus: number;
  readonly document: unknown;
}

/** A call of the page: what is read (`GET`), or asked or changed (`POST`). */
export interface ApiCall {
  readonly method: 'GET' | 'POST';
  /** Without query, for example `/api/signals`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The JSON of a `POST`; undefined for a `GET`, and for what is not JSON. */
  readonly body: unknown;
}

/** What stands behind the server. Loaded when it is first needed. */
export interface PageContents {
  /** Null when there is no such file. */
  asset(path: string): Promise<Asset | null>;
  answer(call: ApiCall): Promise<ApiAnswer>;
}

export interface PageServer {
  /** `http://127.0.0.1:8070` */
  readonly url: string;
  /** The same with the token: for a terminal only. */
  readonly entryUrl: string;
  close(): Promise<void>;
}

export interface PageServerOptions {
  /** 0 takes any free one. */
  readonly port: number;
  /** Further names under which the owner's tunnel reaches the page. */
  readonly hosts?: readonly string[];
  readonly contents: PageContents;
}

const longestBody = 256 * 1024;

/**
 * Nothing but the page's own files runs, no style is in the text, nothing is asked of other machines, and no other page may
 * hold this one.
 */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const safeHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
  'cache-control': 'no-store',
};

/**
 * Serves the page on the loopback address.
 *
 * @throws the operating system's error when the port is taken
 */
export async function startPageServer({ port, hosts, contents }: PageServerOptions): Promise<PageServer> {
  let guard: PageGuard | null = null;
  const server = createServer({ requestTimeout: 30_000 }, (request, response) => {
    if (guard === null) return void request.destroy();
    respond(guard, contents, request, response).catch((error: unknown) => fail(response, error));
  });
  await listen(server, port);
  const { port: boundPort } = server.address() as AddressInfo;
  guard = createPageGuard(boundPort, hosts);
  const url = `http://127.0.0.1:${boundPort}`;
  return { url, entryUrl: `${url}/#token=${guard.token}`, close: () => close(server) };
}

async function respond(
  guard: PageGuard,
  contents: PageContents,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = '', headers } = request;
  // Two slashes at the beginning would name another machine.
  const target = (request.url ?? '/').replace(/^\/+/, '/');
  const { pathname, searchParams } = new URL(target, 'http://page');
  const refusal = guard.judge({ method, path: pathname, headers });
  if (refusal !== null) return refuse(response, refusal);
  if (!pathname.startsWith('/api/')) return await sendAsset(contents, pathname, method, response);
  const body = method === 'POST' ? await readBody(request) : undefined;
  if (pathname === enterPath) return enter(guard, method, body, response);
  const path = pathname;
  const call = { method: method === 'POST' ? 'POST' : 'GET', path, query: searchParams, body } as const;
  const { httpStatus, document } = await contents.answer(call);
  sendJson(response, httpStatus, document);
}

/** The token comes in the body: an address would stay in a history or a log. */
function enter(guard: PageGuard, method: string, body: unknown, response: ServerResponse): void {
  const { token } = Object(body) as { readonly token?: unknown };
  const cookie = method === 'POST' ? guard.enter(token) : null;
  if (cookie === null) refuse(response, wrongToken);
  else {
    response.setHeader('set-cookie', cookie);
    sendJson(response, 200, {});
  }
}

const wrongToken: PageRefusal = {
  httpStatus: 401,
  code: 'wrong_token',
  message: 'this is not the token of the running relay: it makes a new one at each start',
  action: 'Open the URL that the relay printed at its start.',
};

async function readBody(request: IncomingMessage): Promise<unknown> {
  const { start, omittedBytes } = await readBodyStart(request, longestBody);
  return omittedBytes > 0 ? undefined : readJson(start.toString());
}

async function sendAsset(
  contents: PageContents,
  path: string,
  method: string,
  response: ServerResponse,
): Promise<void> {
  const asset = method === 'POST' ? null : await contents.asset(path);
  if (asset === null) {
    response.writeHead(404, safeHeaders).end();
    return;
  }
  response.writeHead(200, { ...safeHeaders, 'content-type': asset.type });
  response.end(method === 'HEAD' ? undefined : asset.body);
}

/** A page that cannot be built, and a caller that has gone. */
function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(500, { ...safeHeaders, 'content-type': 'text/plain; charset=utf-8' });
  response.end(`The page cannot be shown: ${describeError(error)}\n`);
}

function refuse(response: ServerResponse, { httpStatus, code, message, action }: PageRefusal): void {
  sendJson(response, httpStatus, { error: { code, message, action, issues: [] } });
}

function sendJson(response: ServerResponse, httpStatus: number, document: unknown): void {
  response.writeHead(httpStatus, { ...safeHeaders, 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(document));
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
