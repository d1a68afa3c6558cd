import { describe, expect, test } from '@jest/globals';
import { createPageGuard, type GuardedRequest } from '../../../cli/dashboard/guard.ts';

const port = 8071;
const guard = createPageGuard(port, ['relay.example.ts.net']);
const cookie = (guard.enter(guard.token) ?? '').split(';')[0] ?? '';

function request(
  headers: GuardedRequest['headers'],
  overrides: Partial<GuardedRequest> = {},
): GuardedRequest {
  return {
    method: 'GET',
    path: '/api/signals',
    headers: { host: `127.0.0.1:${port}`, cookie, ...headers },
    ...overrides,
  };
}

const post = { method: 'POST', path: '/api/pause' } as const;
const own = `http://127.0.0.1:${port}`;

describe('the guard of the page', () => {
  test('makes a token of its own at each start, of 256 bits', () => {
    expect(guard.token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(createPageGuard(port).token).not.toBe(guard.token);
  });

  test('sets a cookie that scripts cannot read and other sites cannot send, and that is not the token', () => {
    const set = guard.enter(guard.token);

    expect(set).toMatch(/^relay-page-8071=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(set).not.toContain(guard.token);
  });

  test.each([undefined, null, '', 'guess', 7, {}, `${guard.token}x`])('takes no other token: %p', (token) => {
    expect(guard.enter(token)).toBeNull();
  });

  test.each([
    ['its own address', {}],
    ['localhost', { host: `localhost:${port}` }],
    ['a name of the owner’s tunnel', { host: 'relay.example.ts.net' }],
  ])('answers under %s', (_, headers) => {
    expect(guard.judge(request(headers))).toBeNull();
  });

  test.each([
    ['a name that points to this machine', 'evil.example:8071'],
    ['another port', '127.0.0.1:9999'],
    ['the beginning of its address', '127.0.0.1'],
    ['a longer name', `127.0.0.1:${port}.evil.example`],
    ['no name', undefined],
  ])('refuses a request for %s, even with the cookie', (_, host) => {
    expect(guard.judge(request({ host }))).toMatchObject({ httpStatus: 421, code: 'foreign_host' });
    expect(guard.judge(request({ host }, { path: '/' }))).toMatchObject({ httpStatus: 421 });
  });

  test('answers a call of its own page', () => {
    expect(guard.judge(request({ origin: own, 'sec-fetch-site': 'same-origin' }, post))).toBeNull();
  });

  test('answers through a tunnel that adds https', () => {
    const host = 'relay.example.ts.net';

    expect(guard.judge(request({ host, origin: `https://${host}` }, post))).toBeNull();
  });

  test.each([
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['a page of another port', { origin: 'http://127.0.0.1:9999' }],
    ['its own address by another protocol', { origin: own.replace('http:', 'https:') }],
    ['an origin that is hidden', { origin: 'null' }],
    ['no origin', {}],
    ['another site, says the browser', { origin: own, 'sec-fetch-site': 'cross-site' }],
    ['another port, says the browser', { origin: own, 'sec-fetch-site': 'same-site' }],
  ])('refuses to change anything for %s, even with the cookie', (_, headers) => {
    expect(guard.judge(request(headers, post))).toMatchObject({ httpStatus: 403, code: 'foreign_origin' });
  });

  test('refuses to be read by another site, and opens for a link on one', () => {
    const foreign = { 'sec-fetch-site': 'cross-site' };

    expect(guard.judge(request({ ...foreign, 'sec-fetch-mode': 'no-cors' }))).toMatchObject({
      httpStatus: 403,
    });
    expect(guard.judge(request({ ...foreign, 'sec-fetch-mode': 'navigate' }, { path: '/' }))).toBeNull();
  });

  test.each([
    ['no cookie', undefined],
    ['the token instead', `relay-page-8071=${guard.token}`],
    ['the cookie of another page', cookie.replace('8071', '8072')],
    ['a cookie without a value', 'relay-page-8071='],
  ])('answers nothing with %s but the page itself', (_, given) => {
    expect(guard.judge(request({ cookie: given }))).toMatchObject({ httpStatus: 401, code: 'no_token' });
    expect(guard.judge(request({ cookie: given, origin: own }, post))).toMatchObject({ httpStatus: 401 });
    expect(guard.judge(request({ cookie: given }, { path: '/' }))).toBeNull();
    expect(guard.judge(request({ cookie: given }, { path: '/page.js' }))).toBeNull();
  });

  test('finds its cookie among others', () => {
    expect(guard.judge(request({ cookie: `a=b; ${cookie}; c=d` }))).toBeNull();
  });

  test.each(['PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE'])('refuses %s', (method) => {
    expect(guard.judge(request({ origin: own }, { method }))).toMatchObject({ httpStatus: 405 });
  });
});
