import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { type Clock, systemClock } from './clock.ts';
import type { Transport, WireOutcome, WireRequest, WireResponse } from './wire.ts';

/** Connections per address. Further requests wait for a free connection. */
const maximumSockets = 64;
/** The largest response, the list of all markets, has about 1 MiB. */
const maximumResponseBytes = 4 * 1024 * 1024;
/**
 * Servers close idle connections after 5 s or more. A request on a connection that is just closing is lost.
 */
const maximumIdleMs = 4000;

/** One address and the connections to it. */
interface Origin {
  readonly agent: Agent;
  readonly baseOptions: RequestOptions;
  /** The socket event after which written bytes leave this machine. */
  readonly readyEvent: 'connect' | 'secureConnect';
  issue(options: RequestOptions): ClientRequest;
}

/** The time of each connection's last use. A connection that is missing here was never ready. */
type LastUses = WeakMap<Socket, number>;

export function createTransport(clock: Clock = systemClock): Transport {
  const origins = new Map<string, Origin>();
  const deliveries = new Set<Delivery>();
  const lastUses: LastUses = new WeakMap();
  let isClosed = false;

  function originOf(baseUrl: string): Origin {
    let origin = origins.get(baseUrl);
    if (origin === undefined) {
      origin = openOrigin(baseUrl);
      origins.set(baseUrl, origin);
    }
    return origin;
  }

  function startDelivery(request: WireRequest): Delivery {
    const origin = originOf(request.baseUrl);
    closeIdleSockets(origin.agent, lastUses, clock.nowMs());
    return new Delivery(origin, request, clock, lastUses);
  }

  return {
    async send(request) {
      if (isClosed) return { kind: 'not_sent', reason: 'the connections were closed' };
      const delivery = startDelivery(request);
      deliveries.add(delivery);
      const outcome = await delivery.outcome;
      deliveries.delete(delivery);
      return outcome;
    },
    close() {
      isClosed = true;
      for (const delivery of deliveries) delivery.fail('the relay closed the connection');
      for (const { agent } of origins.values()) agent.destroy();
    },
  };
}

function openOrigin(baseUrl: string): Origin {
  const { protocol, hostname, port } = new URL(baseUrl);
  const isSecure = protocol === 'https:';
  // Importing node:http adds 20 ms to a cold start, and only the paper exchange needs it.
  const { Agent, request } = isSecure ? https : process.getBuiltinModule('node:http');
  const agent = new Agent({ keepAlive: true, maxSockets: maximumSockets });
  // An IPv6 address has brackets in a URL and none elsewhere.
  const baseOptions = { protocol, hostname: hostname.replaceAll(/[[\]]/g, ''), port, agent };
  return { agent, baseOptions, readyEvent: isSecure ? 'secureConnect' : 'connect', issue: request };
}

/**
 * Runs before each request, not on a timer. A Lambda that was frozen between two requests resumes with
 * connections that the server closed long ago, before its timers have run.
 */
function closeIdleSockets(agent: Agent, lastUses: LastUses, nowMs: number): void {
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) {
      const idleMs = nowMs - (lastUses.get(socket) ?? 0);
      if (idleMs < 0 || idleMs > maximumIdleMs) socket.destroy();
    }
}

/** One request in flight. */
class Delivery {
  readonly outcome: Promise<WireOutcome>;
  readonly #wire: WireRequest;
  readonly #clock: Clock;
  readonly #lastUses: LastUses;
  readonly #request: ClientRequest;
  readonly #resolve: (outcome: WireOutcome) => void;
  readonly #startedAtMs = performance.now();
  #timer: NodeJS.Timeout;
  /** The connection the request was written to; null while no byte of it can have left this machine. */
  #socket: Socket | null = null;
  #isSettled = false;

  constructor(origin: Origin, wire: WireRequest, clock: Clock, lastUses: LastUses) {
    const { promise, resolve } = Promise.withResolvers<WireOutcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#wire = wire;
    this.#clock = clock;
    this.#lastUses = lastUses;
    const { method, path, headers } = wire;
    this.#request = origin.issue({ ...origin.baseOptions, method, path, headers });
    this.#request
      .on('socket', (socket: Socket) => this.#awaitReady(socket, origin.readyEvent))
      .on('response', (response: IncomingMessage) => this.#collect(response))
      .on('error', (error) => this.fail(describeBreak(error)));
    const timeoutMs = Math.min(wire.connectTimeoutMs, wire.timeoutMs);
    this.#timer = setTimeout(() => this.fail(`no connection within ${timeoutMs} ms`), timeoutMs);
  }

  /**
   * Ends the request, if it has not ended: `ambiguous` once it was written to a connection, else `not_sent`.
   */
  fail(reason: string): void {
    // After a request has ended, its connection may carry another request, so it must not be destroyed.
    if (this.#isSettled) return;
    this.#settle(
      this.#socket !== null
        ? { kind: 'ambiguous', reason: `the response was lost after the request was written: ${reason}` }
        : { kind: 'not_sent', reason: `no connection to ${this.#wire.baseUrl}: ${reason}` },
    );
    this.#request.destroy();
  }

  #settle(outcome: WireOutcome): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#resolve(outcome);
  }

  /**
   * Writes nothing before the connection is made, so that an earlier failure proves that nothing was sent.
   */
  #awaitReady(socket: Socket, readyEvent: string): void {
    if (this.#lastUses.has(socket)) this.#handOver(socket);
    else socket.once(readyEvent, () => this.#handOver(socket));
  }

  #handOver(socket: Socket): void {
    if (this.#isSettled) return;
    if (socket.destroyed) {
      this.fail('the connection had just been closed');
      return;
    }
    const { timeoutMs, body } = this.#wire;
    clearTimeout(this.#timer);
    const leftMs = Math.max(1, timeoutMs - (performance.now() - this.#startedAtMs));
    this.#timer = setTimeout(() => this.fail(`no response within ${timeoutMs} ms`), leftMs);
    this.#touch(socket);
    if (body === null) this.#request.end();
    else this.#request.end(body);
  }

  #touch(socket: Socket): void {
    this.#socket = socket;
    this.#lastUses.set(socket, this.#clock.nowMs());
  }

  #collect(response: IncomingMessage): void {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    response
      .on('data', (chunk: Buffer) => {
        sizeBytes += chunk.length;
        if (sizeBytes > maximumResponseBytes)
          this.fail(`the response is larger than ${maximumResponseBytes} bytes`);
        else chunks.push(chunk);
      })
      .on('end', () => {
        if (this.#socket !== null) this.#touch(this.#socket);
        const body = Buffer.concat(chunks).toString('utf8');
        this.#settle(composeResponse(this.#wire, response, body));
      })
      .on('error', (error) => this.fail(describeBreak(error)));
  }
}

function composeResponse(
  { wantedHeaders }: WireRequest,
  response: IncomingMessage,
  body: string,
): WireResponse {
  const { statusCode: status = 0, headers } = response;
  if (wantedHeaders === undefined) return { kind: 'answered', status, body };
  const wanted = wantedHeaders.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return { kind: 'answered', status, body, headers: Object.fromEntries(wanted) };
}

/** Only the code or name: the message of a network error may hold any text. */
function describeBreak(error: NodeJS.ErrnoException): string {
  return error.code ?? error.name;
}
