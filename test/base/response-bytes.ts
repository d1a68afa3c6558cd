import fc from 'fast-check';
import { MalformedResponse } from '../../lib/base/http-head.ts';
import { type ReadResponse, ResponseReader } from '../../lib/base/http-response.ts';

/** A response as a server may write it, and what it means. */
export interface WrittenResponse {
  readonly method: 'POST' | 'HEAD';
  readonly bytes: Buffer;
  /** Whether the response ends with the connection. */
  readonly isUntilClose: boolean;
  readonly status: number;
  readonly body: string;
}

/** How the reading of some bytes ended. */
export type Reading =
  | { readonly kind: 'response'; readonly response: ReadResponse; readonly readBytes: number }
  | { readonly kind: 'malformed'; readonly message: string };

/**
 * Reads pieces one after another, then the end of the connection. Every piece is overwritten after it was read, as the
 * buffer of a socket is.
 */
export function readPieces(method: string, pieces: readonly Buffer[]): Reading {
  const reader = new ResponseReader(method);
  let readBytes = 0;
  try {
    for (const piece of pieces) {
      const shared = Buffer.from(piece);
      const response = reader.read(shared);
      shared.fill('#');
      readBytes += piece.length;
      if (response !== null) return { kind: 'response', response, readBytes };
    }
    return { kind: 'response', response: reader.readEnd(), readBytes };
  } catch (error) {
    if (!(error instanceof MalformedResponse)) throw error;
    return { kind: 'malformed', message: error.message };
  }
}

/** @param cuts positions within the bytes, in any order */
export function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])];
  places.sort((a, b) => a - b);
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

export function eachByte(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
}

const eol = '\r\n';
const harmlessFields = [
  'Date: Thu, 09 Jul 2020 12:17:45 GMT',
  'content-type:application/json',
  'X-Empty:',
  'x-latin: \xe9\xff',
  'Set-Cookie: a=b; Content-Length: 3',
  'Connection: keep-alive',
  'Keep-Alive: timeout=5, max=100',
  'x-content-length: 7',
];

const fieldsArb = fc.uniqueArray(fc.constantFrom(...harmlessFields), { maxLength: 5 });
const bodyArb = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.json({ maxDepth: 2 }),
  fc.constantFrom('', '\r\n\r\n', '0\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n'),
);
const interimArb = fc.array(
  fc.constantFrom('HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\nx: y\r\n\r\n'),
  { maxLength: 3 },
);
const extensionArb = fc.constantFrom('', ';a', ';name=value;b', ';q="a;\\"\t"');
const trailersArb = fc.constantFrom('', 'x-sum: 1\r\n', 'a:\r\nb: \t\xe9\r\n');
const versionArb = fc.constantFrom('HTTP/1.1', 'HTTP/1.0');

/** The body in chunks of the given sizes, the rest in one. */
function writeChunks(body: Buffer, sizes: readonly number[], extension: string, trailers: string): Buffer {
  const parts: Buffer[] = [];
  let position = 0;
  for (const size of [...sizes, body.length]) {
    const data = body.subarray(position, position + size);
    position += data.length;
    if (data.length === 0) continue;
    parts.push(
      Buffer.from(`${data.length.toString(16)}${extension}${eol}`, 'latin1'),
      data,
      Buffer.from(eol),
    );
  }
  return Buffer.concat([...parts, Buffer.from(`000${extension}${eol}${trailers}${eol}`, 'latin1')]);
}

function writeHead(startLine: string, fields: readonly string[]): Buffer {
  return Buffer.from([startLine, ...fields, '', ''].join(eol), 'latin1');
}

const sizedArb = fc
  .record({ version: versionArb, body: bodyArb, fields: fieldsArb })
  .map(({ version, body, fields }): WrittenResponse => {
    const head = writeHead(`${version} 422 Unprocessable`, [
      ...fields,
      `Content-Length: ${Buffer.byteLength(body)}`,
    ]);
    const bytes = Buffer.concat([head, Buffer.from(body)]);
    return { method: 'POST', bytes, isUntilClose: false, status: 422, body };
  });

const chunkedArb = fc
  .record({
    body: bodyArb,
    fields: fieldsArb,
    sizes: fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 4 }),
    extension: extensionArb,
    trailers: trailersArb,
  })
  .map(({ body, fields, sizes, extension, trailers }): WrittenResponse => {
    const head = writeHead('HTTP/1.1 200 OK', ['transfer-encoding: Chunked', ...fields]);
    const bytes = Buffer.concat([head, writeChunks(Buffer.from(body), sizes, extension, trailers)]);
    return { method: 'POST', bytes, isUntilClose: false, status: 200, body };
  });

/** Without a length, an empty body is none that could be told from one that was cut off. */
const longerBodyArb = bodyArb.filter((body) => body !== '');
const untilCloseArb = fc.record({ version: versionArb, body: longerBodyArb, fields: fieldsArb }).map(
  ({ version, body, fields }): WrittenResponse => ({
    method: 'POST',
    bytes: Buffer.concat([writeHead(`${version} 503 `, fields), Buffer.from(body)]),
    isUntilClose: true,
    status: 503,
    body,
  }),
);

const bodilessArb = fc
  .record({
    kind: fc.constantFrom({ method: 'POST', status: 204 }, { method: 'POST', status: 304 }, {
      method: 'HEAD',
      status: 200,
    } as const),
    fields: fieldsArb,
    framing: fc.constantFrom([], ['Content-Length: 12'], ['Transfer-Encoding: chunked']),
  })
  .map(
    ({ kind, fields, framing }): WrittenResponse => ({
      method: kind.method as WrittenResponse['method'],
      bytes: writeHead(`HTTP/1.1 ${kind.status} X`, [...fields, ...framing]),
      isUntilClose: false,
      status: kind.status,
      body: '',
    }),
  );

/** Any response that a server may write, with interim responses before it. */
export const WrittenResponseArb: fc.Arbitrary<WrittenResponse> = fc
  .tuple(interimArb, fc.oneof(sizedArb, chunkedArb, untilCloseArb, bodilessArb))
  .map(([interim, response]) => ({
    ...response,
    bytes: Buffer.concat([...interim.map((text) => Buffer.from(text)), response.bytes]),
  }));

/** What may go wrong with bytes: some are removed, repeated, replaced or put in. */
export const DamageArb: fc.Arbitrary<(bytes: Buffer) => Buffer> = fc
  .record({
    at: fc.nat(),
    removed: fc.integer({ min: 0, max: 6 }),
    added: fc.oneof(
      fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom(
          eol,
          '\n',
          '\r',
          '\0',
          ' ',
          ':',
          ',',
          '0',
          '5',
          'f',
          '\r\n ',
          '\r\nContent-Length: 1',
          '\r\ntransfer-encoding: chunked',
          '\r\nTransfer-Encoding: gzip',
          '\r\n\r\n',
          'HTTP/1.1 ',
          '-',
          '+5',
          '0x',
        )
        .map((text) => Buffer.from(text)),
    ),
  })
  .map(({ at, removed, added }) => (bytes: Buffer) => {
    const place = at % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, place), added, bytes.subarray(place + removed)]);
  });
