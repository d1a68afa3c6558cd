import type { Socket } from 'node:net';
import type { Clock } from './clock.ts';
import type { Address } from './http-address.ts';
import type { Delivery, Holder } from './http-delivery.ts';
import { MalformedResponse } from './http-head.ts';
import { composeRequest } from './http-request.ts';
import { type ReadResponse, ResponseReader } from './http-response.ts';
import type { Confirmation } from './wire.ts';

/** Is told what becomes of a connection. */
export interface ConnectionOwner {
  /** The connection may carry another request. */
  onFree(connection: HttpConnection): void;
  onClosed(connection: HttpConnection): void;
}

/**
 * Servers close idle connections after 5 s or more. A request on a connection that is just closing is lost.
 */
const maximumIdleMs = 4000;

/** One connection. It carries one request at a time, and the next one only after a response with a proven end. */
export class HttpConnection implements Holder {
  readonly #address: Address;
  readonly #owner: ConnectionOwner;
  readonly #clock: Clock;
  readonly #socket: Socket;
  #delivery: Delivery | null = null;
  #reader: ResponseReader | null = null;
  #isClosed = false;
  #wasUsed = false;
  /** A refusal that waits for its confirmation. */
  #refusal: ReadResponse | null = null;
  #freeSinceMs = 0;
  #maximumIdleMs = 0;

  /** Connects, and then carries the first request. */
  constructor(address: Address, owner: ConnectionOwner, clock: Clock, delivery: Delivery) {
    this.#address = address;
    this.#owner = owner;
    this.#clock = clock;
    this.#take(delivery);
    this.#socket = address
      .connect((bytes) => this.#read(bytes))
      .once(address.readyEvent, () => this.#write())
      .on('end', () => this.#readEnd())
      .on('error', (error) => this.close(describeBreak(error)))
      .on('close', () => this.close('the connection was closed'));
  }

  /**
   * Whether a further request may be written. A Lambda that was frozen between two requests resumes with connections
   * that the server closed long ago, before its timers have run: the time since the last response is what counts.
   */
  isUsable(nowMs: number): boolean {
    const idleMs = nowMs - this.#freeSinceMs;
    return idleMs >= 0 && idleMs <= this.#maximumIdleMs && this.#socket.writable;
  }

  /** Carries a further request. */
  carry(delivery: Delivery): void {
    this.#wasUsed = true;
    this.#take(delivery);
    this.#socket.ref();
    this.#write();
  }

  /** Keeps the connection open without keeping the process alive. */
  rest(): void {
    this.#socket.unref();
  }

  /** A request that has ended has no say any more: the connection may carry another one by now. */
  abandon(delivery: Delivery, reason: string): void {
    if (this.#delivery === delivery) this.close(reason);
  }

  /** Closes the connection, and ends the request that it carries. */
  close(reason: string): void {
    // The socket reports the end of a connection several times.
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.destroy();
    this.#delivery?.fail(reason);
    this.#delivery = null;
    this.#owner.onClosed(this);
  }

  #take(delivery: Delivery): void {
    delivery.holder = this;
    this.#delivery = delivery;
  }

  /** Runs once the connection is made: whatever fails earlier proves that nothing was sent. */
  #write(): void {
    if (this.#delivery === null) return;
    // A process that stood still may learn of the connection before its timer has rung.
    if (this.#delivery.isOverdue()) {
      this.#delivery.expire();
      return;
    }
    const { request, text, encoding } = this.#delivery;
    this.#reader = new ResponseReader(request.method);
    this.#delivery.markWritten();
    this.#socket.write(text, encoding);
  }

  #read(bytes: Buffer): void {
    if (this.#isClosed) return;
    if (this.#reader === null) this.close('the server sent what was not asked for');
    else this.#advance(this.#reader, (reader) => reader.read(bytes));
  }

  #readEnd(): void {
    if (this.#isClosed) return;
    if (this.#reader === null) this.close('the server closed the connection');
    else this.#advance(this.#reader, (reader) => reader.readEnd());
  }

  #advance(reader: ResponseReader, read: (reader: ResponseReader) => ReadResponse | null): void {
    try {
      const response = read(reader);
      if (response !== null) this.#finish(response);
    } catch (error) {
      if (!(error instanceof MalformedResponse)) throw error;
      this.close(error.message);
    }
  }

  #finish(response: ReadResponse): void {
    const delivery = this.#delivery;
    const confirmation = delivery?.request.confirmation;
    if (confirmation === undefined) this.#succeed(response, response);
    else if (this.#refusal !== null) this.#judge(this.#refusal, response, confirmation);
    else if (!isRefusal(response)) this.#succeed(response, response);
    else if (this.#mayAsk(response)) this.#confirm(response, confirmation);
    else if (this.#wasUsed || response.hasSurplus) this.close(outOfStep);
    else this.#succeed(response, response);
  }

  #mayAsk({ reusableForMs }: ReadResponse): boolean {
    return reusableForMs > 0 && this.#socket.writableLength === 0 && this.#socket.writable;
  }

  /** The request keeps its time limit: a confirmation that does not come in time leaves it in doubt. */
  #confirm(refusal: ReadResponse, { path, headers }: Confirmation): void {
    const { baseUrl, connectTimeoutMs, timeoutMs } = (this.#delivery as Delivery).request;
    const question = { baseUrl, method: 'GET', path, headers, body: null, connectTimeoutMs, timeoutMs };
    const composed = composeRequest(question, this.#address.host);
    if (composed.kind === 'invalid') throw new TypeError(composed.reason);
    this.#refusal = refusal;
    this.#reader = new ResponseReader('GET');
    this.#socket.write(composed.text, composed.encoding);
  }

  #judge(refusal: ReadResponse, { head, body, ...rest }: ReadResponse, { isExpected }: Confirmation): void {
    this.#refusal = null;
    if (!rest.hasSurplus && isExpected({ status: head.status, body }))
      this.#succeed(refusal, { head, body, ...rest });
    else this.close(outOfStep);
  }

  /** @param last what the connection carried last: it decides whether the connection may be used again */
  #succeed(response: ReadResponse, last: ReadResponse): void {
    const delivery = this.#delivery;
    this.#delivery = null;
    this.#reader = null;
    this.#freeSinceMs = this.#clock.nowMs();
    this.#maximumIdleMs = Math.min(maximumIdleMs, last.reusableForMs);
    delivery?.succeed(response);
    // A server that responds before it has the whole request may take the rest of it for another one.
    if (last.reusableForMs > 0 && this.#socket.writableLength === 0) this.#owner.onFree(this);
    else this.close('the connection cannot be used again');
  }
}

const outOfStep = 'its connection carries responses that belong to other requests';

/** HTTP 429 is no refusal: it proves nothing, whichever request it belongs to. */
function isRefusal({ head: { status } }: ReadResponse): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/** Only the code or name: the message of a network error may hold any text. */
function describeBreak(error: NodeJS.ErrnoException): string {
  return error.code ?? error.name;
}
