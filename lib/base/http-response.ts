import { ByteStore } from './byte-store.ts';
import {
  fieldLine,
  MalformedResponse,
  maximumHeaderLines,
  parseResponseHead,
  type ResponseHead,
  token,
} from './http-head.ts';

/** A response that has arrived completely. */
export interface ReadResponse {
  readonly head: ResponseHead;
  readonly body: string;
  /** How long the connection may be used again. 0: not at all. */
  readonly reusableForMs: number;
  /** Whether bytes came after it that nobody had asked for. */
  readonly hasSurplus: boolean;
}

/** The largest response of an exchange, the list of all markets, has about 1 MiB; a page of DynamoDB too. */
const maximumResponseBytes = 4 * 1024 * 1024;
const maximumHeadBytes = 64 * 1024;
const maximumLineBytes = 4096;
const maximumInterimResponses = 16;

const lineEnd = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');
/** @see https://www.rfc-editor.org/rfc/rfc9112#section-7.1.1 a chunk's extensions mean nothing here */
const extension = `;${token.source}(?:=(?:${token.source}|"(?:[\\t\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\[\\t\\x20-\\x7e])*"))?`;
const chunkSizeLine = new RegExp(`^([\\dA-Fa-f]{1,8})(?:${extension})*$`);

/** A length that comes after the body contradicts the chunks. */
const framingField = /^(?:content-length|transfer-encoding):/i;

/** What the next bytes are. */
type Phase =
  | 'head'
  | 'sized'
  | 'until_close'
  | 'chunk_size'
  | 'chunk'
  | 'chunk_end'
  | 'trailers'
  | 'complete';

/** Reads one response from bytes as they arrive. Every violation ends it: there is nothing to be guessed. */
export class ResponseReader {
  readonly #hasNoBody: boolean;
  #phase: Phase = 'head';
  #sizeBytes = 0;
  #interimResponses = 0;
  #trailerLines = 0;
  #head: ResponseHead | null = null;
  /** Bytes of the body or of the chunk that are still to come. */
  #missingBytes = 0;
  readonly #body = new ByteStore();
  /** The text of a body that arrived in one piece. */
  #wholeBody: string | null = null;
  /** The beginning of a head or line whose end is still to come. */
  readonly #held = new ByteStore();

  /** @param method of the request: a response to `HEAD` has no body, whatever its headers say */
  constructor(method: string) {
    this.#hasNoBody = method === 'HEAD';
  }

  /**
   * Reads further bytes. They may be overwritten afterwards.
   *
   * @returns the response once it is complete, else null
   * @throws MalformedResponse
   */
  read(chunk: Buffer): ReadResponse | null {
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes > maximumResponseBytes) throw tooLarge();
    const isContinued = this.#held.size > 0;
    if (isContinued) this.#held.append(chunk);
    const bytes = isContinued ? this.#held.view() : chunk;
    let position = 0;
    while (this.#phase !== 'complete') {
      const next = this.#step(bytes, position);
      if (next === null) break;
      position = next;
    }
    if (this.#phase === 'complete' && this.#head !== null)
      return this.#finish(this.#head, position < bytes.length);
    if (isContinued) this.#held.drop(position);
    else this.#held.append(bytes.subarray(position));
    return null;
  }

  /**
   * Reads the end of the connection. A body that ends with it is refused when it is empty: nothing tells it from one that
   * was cut off before its first byte, and an empty body can mean a refusal.
   *
   * @throws MalformedResponse unless the end of the connection is the end of the response
   */
  readEnd(): ReadResponse {
    if (this.#phase === 'until_close' && this.#head !== null && this.#body.size > 0)
      return this.#finish(this.#head, false);
    throw new MalformedResponse(
      this.#sizeBytes === 0
        ? 'the server closed the connection without a response'
        : 'the server closed the connection within the response',
    );
  }

  /** @returns the position after what was read, or null if further bytes are needed */
  #step(bytes: Buffer, position: number): number | null {
    switch (this.#phase) {
      case 'head':
        return this.#readHead(bytes, position);
      case 'chunk_size':
        return this.#readChunkSize(bytes, position);
      case 'chunk_end':
        return this.#readChunkEnd(bytes, position);
      case 'trailers':
        return this.#readTrailer(bytes, position);
      default:
        return this.#readBody(bytes, position);
    }
  }

  #readHead(bytes: Buffer, position: number): number | null {
    const end = bytes.indexOf(headEnd, position);
    if ((end < 0 ? bytes.length : end) - position > maximumHeadBytes)
      throw new MalformedResponse(`the head of the response is larger than ${maximumHeadBytes} bytes`);
    if (end < 0) return null;
    const head = parseResponseHead(bytes.toString('latin1', position, end + lineEnd.length));
    this.#begin(head);
    return end + headEnd.length;
  }

  /** Decides what follows the head. */
  #begin(head: ResponseHead): void {
    const { status, framing } = head;
    if (status < 200) {
      this.#skipInterim(head);
      return;
    }
    this.#head = head;
    if (this.#hasNoBody || status === 204 || status === 304) this.#phase = 'complete';
    else if (framing.kind === 'chunked') this.#phase = 'chunk_size';
    else if (framing.kind === 'until_close') this.#phase = 'until_close';
    else this.#expect(framing.bytes, 'sized');
    if (this.#phase === 'sized' && this.#missingBytes === 0) this.#phase = 'complete';
  }

  /** @see https://www.rfc-editor.org/rfc/rfc9110#section-15.2 the response proper is still to come */
  #skipInterim({ status, isLast }: ResponseHead): void {
    this.#interimResponses += 1;
    if (isLast) throw new MalformedResponse('an interim response says that no other follows');
    if (status === 101) throw new MalformedResponse('the server switches to another protocol');
    if (this.#interimResponses > maximumInterimResponses)
      throw new MalformedResponse(`there are more than ${maximumInterimResponses} interim responses`);
  }

  #expect(sizeBytes: number, phase: Phase): void {
    if (sizeBytes + this.#body.size > maximumResponseBytes) throw tooLarge();
    this.#missingBytes = sizeBytes;
    this.#phase = phase;
  }

  #readBody(bytes: Buffer, position: number): number | null {
    if (position === bytes.length) return null;
    const available = bytes.length - position;
    const taken = this.#phase === 'until_close' ? available : Math.min(available, this.#missingBytes);
    const isWhole = this.#phase === 'sized' && taken === this.#missingBytes && this.#body.size === 0;
    if (isWhole) this.#wholeBody = bytes.toString('utf8', position, position + taken);
    else this.#body.append(bytes.subarray(position, position + taken));
    this.#missingBytes -= taken;
    if (this.#missingBytes === 0 && this.#phase !== 'until_close')
      this.#phase = this.#phase === 'sized' ? 'complete' : 'chunk_end';
    return position + taken;
  }

  #readChunkSize(bytes: Buffer, position: number): number | null {
    const line = readLine(bytes, position);
    if (line === null) return null;
    const digits = chunkSizeLine.exec(line)?.[1];
    if (digits === undefined) throw new MalformedResponse('the size of a chunk is not a hexadecimal number');
    const sizeBytes = Number.parseInt(digits, 16);
    this.#expect(sizeBytes, sizeBytes === 0 ? 'trailers' : 'chunk');
    return position + line.length + lineEnd.length;
  }

  #readChunkEnd(bytes: Buffer, position: number): number | null {
    if (bytes.length - position < lineEnd.length) return null;
    this.#phase = 'chunk_size';
    if (bytes[position] === lineEnd[0] && bytes[position + 1] === lineEnd[1])
      return position + lineEnd.length;
    throw new MalformedResponse('a chunk is longer than its size');
  }

  /** Trailers are checked, because they decide where the response ends, and dropped. */
  #readTrailer(bytes: Buffer, position: number): number | null {
    const line = readLine(bytes, position);
    if (line === null) return null;
    this.#trailerLines += 1;
    if (line === '') this.#phase = 'complete';
    else if (
      this.#trailerLines > maximumHeaderLines ||
      !fieldLine.test(`${line}\r\n`) ||
      framingField.test(line)
    )
      throw new MalformedResponse('a trailer line is not HTTP/1.1, or there are too many');
    return position + line.length + lineEnd.length;
  }

  #finish(head: ResponseHead, hasSurplus: boolean): ReadResponse {
    const body = this.#wholeBody ?? this.#body.view().toString('utf8');
    return { head, body, reusableForMs: hasSurplus ? 0 : head.reusableForMs, hasSurplus };
  }
}

function readLine(bytes: Buffer, position: number): string | null {
  const end = bytes.indexOf(lineEnd, position);
  if ((end < 0 ? bytes.length : end) - position > maximumLineBytes)
    throw new MalformedResponse(`a line within the response is longer than ${maximumLineBytes} bytes`);
  return end < 0 ? null : bytes.toString('latin1', position, end);
}

function tooLarge(): MalformedResponse {
  return new MalformedResponse(`the response is larger than ${maximumResponseBytes} bytes`);
}
