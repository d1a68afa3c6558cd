import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { createTransport } from '../../lib/base/transport.ts';
import type { Transport, WireOutcome, WireRequest } from '../../lib/base/wire.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { type RawServer, type RawStep, startRawServer } from '../support/raw-server.ts';
import { type ScriptedServer, type ScriptStep, startScriptedServer } from '../support/scripted-server.ts';

/** A real transport on a clock moved by hand, and the servers a test starts for it. */
export interface Line {
  readonly clock: ManualClock;
  readonly transport: Transport;
  serve(
    steps: readonly ScriptStep[],
    server?: Parameters<typeof startScriptedServer>[1],
  ): Promise<ScriptedServer>;
  /** Starts a server that writes bytes. */
  serveRaw(steps: readonly RawStep[]): Promise<RawServer>;
  /** Starts a bare TCP server and returns its URL. */
  listen(server: Server, scheme: 'http' | 'https'): Promise<string>;
  post(baseUrl: string, change?: Change): Promise<WireOutcome>;
  close(): Promise<void>;
}

/** What a test may change about its request. */
type Change = Partial<Omit<WireRequest, 'baseUrl'>>;

export function openLine(): Line {
  const clock = createManualClock(1_594_297_865_000);
  const transport = createTransport(clock);
  const closers: (() => unknown)[] = [];
  return {
    clock,
    transport,
    async serve(steps, server) {
      const scripted = await startScriptedServer(steps, server);
      closers.push(() => scripted.close());
      return scripted;
    },
    async serveRaw(steps) {
      const raw = await startRawServer(steps);
      closers.push(() => raw.close());
      return raw;
    },
    async listen(server, scheme) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      closers.push(() => server.close());
      return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    post: (baseUrl, change = {}) =>
      transport.send({
        baseUrl,
        method: 'POST',
        path: '/api/v4/order',
        headers: { 'Content-type': 'application/json' },
        body: '{"a":1}',
        connectTimeoutMs: 10_000,
        timeoutMs: 10_000,
        ...change,
      }),
    async close() {
      transport.close();
      for (const close of closers) await close();
    },
  };
}

export const fine = { status: 200, body: '{"ok":true}' };

/** The bytes of a response with this body. */
export function bytesOf(body: string, fields = ''): string {
  return `HTTP/1.1 200 OK\r\n${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
