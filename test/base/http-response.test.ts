import { describe, expect, test } from '@jest/globals';
import { pickHeaders } from '../../lib/base/http-head.ts';
import { cutAt, eachByte, readPieces } from './response-bytes.ts';

function read(text: string, method = 'POST') {
  return readPieces(method, [Buffer.from(text, 'latin1')]);
}

function answered(status: number, body: string) {
  return { kind: 'response', response: { head: { status }, body } };
}

const sized = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';

describe('the reader of responses accepts', () => {
  test.each([
    ['a body of known length', sized, 200, '{}'],
    ['no reason after the status', 'HTTP/1.1 429\r\nContent-Length: 0\r\n\r\n', 429, ''],
    [
      'chunks with extensions and trailers',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a=b\r\n{\r\n01\r\n}\r\n0\r\nx: y\r\n\r\n',
      200,
      '{}',
    ],
    ['an empty body in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding:CHUNKED\r\n\r\n0\r\n\r\n', 200, ''],
    ['a body that ends with the connection', 'HTTP/1.0 200 OK\r\n\r\n{}', 200, '{}'],
    [
      'interim responses before the response',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n${sized}`,
      200,
      '{}',
    ],
    [
      'a status without a body, whatever its length says',
      'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n',
      204,
      '',
    ],
  ])('%s', (_, text, status, body) => {
    expect(read(text)).toMatchObject(answered(status, body));
  });

  test('the head alone for HEAD', () => {
    expect(read('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n', 'HEAD')).toMatchObject(answered(200, ''));
  });

  test('a head just below its limit', () => {
    const fields = `a: ${' \t'.repeat(15_000)}b\r\nconnection: ${', '.repeat(15_000)}keep-alive\r\n`;

    expect(read(`HTTP/1.1 200 OK\r\n${fields}Content-Length: 2\r\n\r\n{}`)).toMatchObject(
      answered(200, '{}'),
    );
  });

  test('a large body in many pieces', () => {
    const body = 'a€'.repeat(500_000);
    const bytes = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    const cuts = Array.from({ length: 40 }, (_, index) => index * 65_537);

    const reading = readPieces('GET', cutAt(bytes, cuts));

    expect(reading.kind === 'response' && reading.response.body === body).toBe(true);
  });
});

describe('the reader of responses refuses', () => {
  const inChunks = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const statusLine = 'the response does not begin with a status line';
  const headerLine = 'a header line is not HTTP/1.1, or there are more than 256 of them';
  const twice = 'the response says more than once how long it is';
  const coding = 'the response has a transfer coding other than chunked';
  const length = 'the content length of the response is not a number';
  const chunkSize = 'the size of a chunk is not a hexadecimal number';
  const trailer = 'a trailer line is not HTTP/1.1, or there are too many';
  const lastInterim = 'an interim response says that no other follows';
  const within = 'the server closed the connection within the response';

  test.each([
    ['what is not HTTP', 'good morning\r\n\r\n', statusLine],
    ['another version', 'HTTP/2 200\r\n\r\n', statusLine],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n', statusLine],
    ['a status that no class has', 'HTTP/1.1 600 X\r\n\r\n', statusLine],
    ['an empty line before the status', `\r\n${sized}`, statusLine],
    ['a NUL in the status line', 'HTTP/1.1 200 O\0K\r\n\r\n', statusLine],
    ['a folded header', 'HTTP/1.1 200 OK\r\na: b\r\n c\r\nContent-Length: 0\r\n\r\n', headerLine],
    ['a space before the colon', 'HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n', headerLine],
    ['a header without a colon', 'HTTP/1.1 200 OK\r\nContent-Length\r\n\r\n', headerLine],
    ['a header without a name', 'HTTP/1.1 200 OK\r\n: a\r\n\r\n', headerLine],
    ['a NUL in a header', 'HTTP/1.1 200 OK\r\na: \0\r\n\r\n', headerLine],
    ['a line feed alone in a header', 'HTTP/1.1 200 OK\r\na: b\nContent-Length: 0\r\n\r\n', headerLine],
    ['a carriage return alone in a header', 'HTTP/1.1 200 OK\r\na: b\rContent-Length: 0\r\n\r\n', headerLine],
    ['line feeds alone', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n', within],
    ['257 headers', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(257)}\r\n`, headerLine],
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
      twice,
    ],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 3\r\n\r\n{}', twice],
    ['one length twice', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}', twice],
    ['a list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\n{}', length],
    ['a length with a sign', 'HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\n{}', length],
    ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}', length],
    ['a hexadecimal length', 'HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\n{}', length],
    ['a length without digits', 'HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n{}', length],
    [
      'a length that no number holds',
      `HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(16)}\r\n\r\n{}`,
      length,
    ],
    ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n', coding],
    ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', coding],
    ['a chunk size with a sign', `${inChunks}+2\r\n{}\r\n0\r\n\r\n`, chunkSize],
    ['a chunk size with a prefix', `${inChunks}0x2\r\n{}\r\n0\r\n\r\n`, chunkSize],
    ['a chunk size of nine digits', `${inChunks}000000002\r\n{}\r\n0\r\n\r\n`, chunkSize],
    ['no chunk size', `${inChunks}\r\n{}\r\n0\r\n\r\n`, chunkSize],
    ['a space after the chunk size', `${inChunks}2 \r\n{}\r\n0\r\n\r\n`, chunkSize],
    ['a line feed alone after the chunk size', `${inChunks}2\n{}\r\n0\r\n\r\n`, chunkSize],
    [
      'a chunk that is longer than its size',
      `${inChunks}1\r\n{}\r\n0\r\n\r\n`,
      'a chunk is longer than its size',
    ],
    [
      'a chunk that is shorter than its size',
      `${inChunks}3\r\n{}\r\n0\r\n\r\n`,
      'a chunk is longer than its size',
    ],
    ['a chunk without its last line', `${inChunks}2\r\n{}\r\n`, within],
    ['a folded trailer', `${inChunks}0\r\na: b\r\n c\r\n\r\n`, trailer],
    ['a length in a trailer', `${inChunks}0\r\nContent-Length: 2\r\n\r\n`, trailer],
    ['257 trailers', `${inChunks}0\r\n${'a: b\r\n'.repeat(257)}\r\n`, trailer],
    [
      'another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n',
      'the server switches to another protocol',
    ],
    ['an interim response in HTTP/1.0', `HTTP/1.0 100 Continue\r\n\r\n${sized}`, lastInterim],
    [
      'an interim response that closes',
      `HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\n${sized}`,
      lastInterim,
    ],
    [
      '17 interim responses',
      `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(17)}${sized}`,
      'there are more than 16 interim responses',
    ],
    [
      'a length above the limit',
      'HTTP/1.1 200 OK\r\nContent-Length: 4194305\r\n\r\n',
      'the response is larger than 4194304 bytes',
    ],
    ['a chunk above the limit', `${inChunks}400001\r\n`, 'the response is larger than 4194304 bytes'],
    ['nothing', '', 'the server closed the connection without a response'],
    ['an interim response alone', 'HTTP/1.1 100 Continue\r\n\r\n', within],
    ['a body shorter than its length', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}', within],
  ])('%s', (_, text, message) => {
    expect(read(text)).toEqual({ kind: 'malformed', message });
    expect(readPieces('POST', eachByte(Buffer.from(text, 'latin1')))).toEqual({ kind: 'malformed', message });
  });

  test.each([
    ['a head', 'HTTP/1.1 200 OK\r\nx: ', 'y', 'the head of the response is larger than 65536 bytes'],
    ['a status line', 'HTTP/1.1 200 ', 'y', 'the head of the response is larger than 65536 bytes'],
    ['a chunk size', `${inChunks}0`, '0', 'a line within the response is longer than 4096 bytes'],
    ['a trailer', `${inChunks}0\r\nx: `, 'y', 'a line within the response is longer than 4096 bytes'],
    ['a body until the end', 'HTTP/1.1 200 OK\r\n\r\n', 'y', 'the response is larger than 4194304 bytes'],
    ['a row of chunks', inChunks, '1\r\nx\r\n', 'the response is larger than 4194304 bytes'],
  ])('%s without an end, at its limit', (_, start, endless, message) => {
    const flood = Buffer.from(endless.repeat(Math.ceil(16_000 / endless.length)));
    const pieces = [Buffer.from(start), ...Array<Buffer>(300).fill(flood)];

    expect(readPieces('POST', pieces)).toEqual({ kind: 'malformed', message });
  });
});

describe('a connection is reusable', () => {
  test.each([
    ['after a body of known length', '', Number.POSITIVE_INFINITY],
    ['when the server says so', 'Connection: Keep-Alive\r\n', Number.POSITIVE_INFINITY],
    ['until a second before the server closes it', 'Keep-Alive: timeout=3, max=5\r\n', 2000],
    ['as long, wherever the header says it', 'Keep-Alive: max=5, timeout=3\r\n', 2000],
    ['not when the server closes it within a second', 'keep-alive: timeout=1\r\n', 0],
    ['not when the server closes it', 'connection: close\r\n', 0],
    ['not when the server closes it, among other words', 'Connection: keep-alive, Close\r\n', 0],
    ['not when one of two headers says so', 'Connection: keep-alive\r\nConnection: close\r\n', 0],
  ])('%s', (_, field, reusableForMs) => {
    const reading = read(`HTTP/1.1 200 OK\r\n${field}Content-Length: 2\r\n\r\n{}`);

    expect(reading).toMatchObject({ kind: 'response', response: { reusableForMs } });
  });

  test.each([
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n{}'],
    ['a body that ends with the connection', 'HTTP/1.1 200 OK\r\n\r\n{}'],
    ['bytes that are left over', `${sized}HTTP/1.1 200 OK\r\n`],
  ])('not after %s', (_, text) => {
    expect(read(text)).toMatchObject({ kind: 'response', response: { body: '{}', reusableForMs: 0 } });
  });
});

describe('headers', () => {
  test('are picked by name, those of the same name together', () => {
    const reading = read(
      'HTTP/1.1 200 date:\r\nDATE: today\r\na:1\r\nb: 2\r\nA: \t3 \r\nContent-Length: 0\r\n\r\n',
    );

    const headers =
      reading.kind === 'response' ? pickHeaders(reading.response.head, ['a', 'date', 'c']) : null;

    expect(headers).toEqual({ date: 'today', a: '1, 3' });
  });
});
