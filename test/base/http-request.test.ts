import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { composeRequest } from '../../lib/base/http-request.ts';
import type { WireRequest } from '../../lib/base/wire.ts';
import { runs } from '../support/runs.ts';

const request: WireRequest = {
  baseUrl: 'https://exchange.example',
  method: 'POST',
  path: '/api/v4/order?a=1',
  headers: { 'Content-type': 'application/json', 'X-TXC-APIKEY': 'k3y' },
  body: '{"a":1}',
  connectTimeoutMs: 1,
  timeoutMs: 1,
};

function compose(change: Partial<WireRequest>) {
  return composeRequest({ ...request, ...change }, 'exchange.example:8443');
}

describe('a request', () => {
  test('is one text of head and body', () => {
    expect(compose({})).toEqual({
      kind: 'bytes',
      encoding: 'latin1',
      text: [
        'POST /api/v4/order?a=1 HTTP/1.1',
        'Host: exchange.example:8443',
        'Connection: keep-alive',
        'Content-type: application/json',
        'X-TXC-APIKEY: k3y',
        'Content-Length: 7',
        '',
        '{"a":1}',
      ].join('\r\n'),
    });
  });

  test('counts the bytes of its body, not the characters', () => {
    expect(compose({ body: '"é€😀"' })).toMatchObject({
      encoding: 'utf8',
      text: expect.stringContaining('\r\nContent-Length: 11\r\n'),
    });
  });

  test.each([
    ['GET', null, ''],
    ['POST', null, 'Content-Length: 0\r\n'],
    ['GET', '', 'Content-Length: 0\r\n'],
  ])('%s with body %j has the length %j', (method, body, line) => {
    expect(compose({ method, body, headers: {} })).toMatchObject({
      text: expect.stringMatching(new RegExp(`Connection: keep-alive\\r\\n${line}\\r\\n$`)),
    });
  });

  test.each<[string, Partial<WireRequest>, string]>([
    ['another method', { method: 'CONNECT' }, 'its method is unknown'],
    ['a line break in its method', { method: 'GET / HTTP/1.1\r\n' }, 'its method is unknown'],
    ['a space in its path', { path: '/a b' }, 'its path holds characters that HTTP does not allow'],
    [
      'a line break in its path',
      { path: '/a\r\nb: c' },
      'its path holds characters that HTTP does not allow',
    ],
    ['a path without a slash', { path: 'a' }, 'its path holds characters that HTTP does not allow'],
    [
      'a line break in a header',
      { headers: { 'X-Key': 's3cret\r\nHost: b' } },
      'its header X-Key holds characters that HTTP does not allow',
    ],
    [
      'a line feed in a header',
      { headers: { 'X-Key': 's3cret\n' } },
      'its header X-Key holds characters that HTTP does not allow',
    ],
    [
      'a NUL in a header',
      { headers: { 'X-Key': 's3cret\0' } },
      'its header X-Key holds characters that HTTP does not allow',
    ],
    [
      'a letter beyond ASCII in a header',
      { headers: { 'X-Key': 's3crét' } },
      'its header X-Key holds characters that HTTP does not allow',
    ],
    [
      'a colon in the name of a header',
      { headers: { 'X-Key: s3cret': 'a' } },
      'the name of a header holds characters that HTTP does not allow',
    ],
    [
      'an empty name of a header',
      { headers: { '': 'a' } },
      'the name of a header holds characters that HTTP does not allow',
    ],
    [
      'a length of its own',
      { headers: { 'content-length': '1' } },
      'its header content-length is written by the transport alone',
    ],
    [
      'a coding',
      { headers: { 'Transfer-Encoding': 'chunked' } },
      'its header Transfer-Encoding is written by the transport alone',
    ],
    ['a host of its own', { headers: { HOST: 'a' } }, 'its header HOST is written by the transport alone'],
  ])('with %s is not valid', (_, change, reason) => {
    expect(compose(change)).toEqual({ kind: 'invalid', reason: `the request is not valid: ${reason}` });
  });

  test('has as many lines as headers, whatever the headers hold', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('a\r\nb', 'a\n', '\r'),
    );
    fc.assert(
      fc.property(fc.dictionary(anything, anything), anything, (headers, path) => {
        const composed = compose({ headers, path: `/${path}`, body: null, method: 'GET' });
        if (composed.kind === 'invalid') return;
        const lines = composed.text.split(/\r\n|\r|\n/);
        expect(lines).toHaveLength(Object.keys(headers).length + 5);
        expect(lines.slice(-2)).toEqual(['', '']);
      }),
      { seed: 20_260_101, numRuns: runs(3000) },
    );
  });
});
