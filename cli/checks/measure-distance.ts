import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { connect as connectTls } from 'node:tls';

/** The parts of one request on a connection of its own. */
export interface DistanceSample {
  /** One way there and back. */
  readonly connectMs: number;
  /** Null without TLS. */
  readonly tlsMs: number | null;
  /** From the request to the first byte of its response. */
  readonly requestMs: number;
}

/** The medians of several samples. */
export interface Distance extends DistanceSample {
  readonly samples: number;
  /** All parts of a sample together: what an order takes that needs a new connection. */
  readonly newConnectionMs: number;
}

export interface DistanceOptions {
  /** Scheme, host and port. */
  readonly baseUrl: string;
  /** Of a public endpoint. */
  readonly path: string;
  readonly samples: number;
  /** The longest time of one step. */
  readonly timeoutMs: number;
}

/**
 * Measures how far a server is, one sample after another. The name is looked up once, before, and does not count.
 *
 * @throws Error of the system when the server cannot be reached; RangeError when it responds with another status than 200
 */
export async function measureDistance(options: DistanceOptions): Promise<Distance> {
  const { hostname, protocol, port } = new URL(options.baseUrl);
  const name = hostname.replaceAll(/[[\]]/g, '');
  const { address } = await lookup(name);
  const isTls = protocol === 'https:';
  const server = { address, name, port: Number(port) || (isTls ? 443 : 80), isTls };
  const samples: DistanceSample[] = [];
  while (samples.length < options.samples) samples.push(await measureOnce(server, options));
  return summarize(samples);
}

/** @param samples at least one */
export function summarize(samples: readonly DistanceSample[]): Distance {
  const handshakes = samples.flatMap(({ tlsMs }) => tlsMs ?? []);
  return {
    samples: samples.length,
    connectMs: medianOf(samples.map(({ connectMs }) => connectMs)),
    tlsMs: handshakes.length === 0 ? null : medianOf(handshakes),
    requestMs: medianOf(samples.map(({ requestMs }) => requestMs)),
    newConnectionMs: medianOf(
      samples.map(({ connectMs, tlsMs, requestMs }) => connectMs + (tlsMs ?? 0) + requestMs),
    ),
  };
}

/** To a tenth. */
function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const [low = 0, high = 0] = [
    sorted[Math.ceil(sorted.length / 2) - 1],
    sorted[Math.floor(sorted.length / 2)],
  ];
  return Math.round((low + high) * 5) / 10;
}

interface Server {
  readonly address: string;
  readonly name: string;
  readonly port: number;
  readonly isTls: boolean;
}

async function measureOnce(
  server: Server,
  { baseUrl, path, timeoutMs }: DistanceOptions,
): Promise<DistanceSample> {
  const within = () => ({ signal: AbortSignal.timeout(timeoutMs) });
  const startedAtMs = performance.now();
  const tcp = connectTcp({ host: server.address, port: server.port }).setNoDelay().on('error', ignore);
  let socket: Socket = tcp;
  try {
    await once(tcp, 'connect', within());
    const connectedAtMs = performance.now();
    if (server.isTls) {
      socket = openTls(tcp, server.name).on('error', ignore);
      await once(socket, 'secureConnect', within());
    }
    const securedAtMs = performance.now();
    await ask(socket, `${baseUrl}${path}`, within());
    return {
      connectMs: connectedAtMs - startedAtMs,
      tlsMs: server.isTls ? securedAtMs - connectedAtMs : null,
      requestMs: performance.now() - securedAtMs,
    };
  } finally {
    socket.destroy();
    tcp.destroy();
  }
}

/** Whoever waits for the step learns of an error; what fails after it has no say. */
function ignore(): void {}

function openTls(socket: Socket, name: string): Socket {
  const options = { socket, ALPNProtocols: ['http/1.1'] };
  // Names of servers only: the extension has no place for an IP address.
  return connectTls(isIP(name) === 0 ? { ...options, servername: name } : { ...options, host: name });
}

/** Resolves with the head of the response. */
async function ask(socket: Socket, url: string, within: { readonly signal: AbortSignal }): Promise<void> {
  const { host, pathname } = new URL(url);
  const sent = request({ createConnection: () => socket, method: 'GET', path: pathname, headers: { host } });
  sent.on('error', ignore).end();
  const [response] = (await once(sent, 'response', within)) as [IncomingMessage];
  response.resume();
  if (response.statusCode !== 200) throw new RangeError(`it responded with HTTP ${response.statusCode}`);
}
