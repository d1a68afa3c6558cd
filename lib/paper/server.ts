import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Decimal } from '../base/decimal.ts';
import { createRandom, type Random } from '../base/random.ts';
import type { Dialect } from '../exchange/dialect.ts';
import { type Controlled, createControl, type PaperControl } from './control.ts';
import { createPaperCore } from './exchange.ts';
import { createFaultBox } from './faults.ts';
import { createGateway } from './gateway.ts';
import { paperMarkets } from './markets.ts';
import { createOutage } from './outage.ts';
import { walkPrice } from './prices.ts';
import { openTrading } from './trading.ts';

export interface PaperOptions {
  /** 0 takes any free one. */
  readonly port: number;
  readonly dialect: Dialect;
  readonly clock?: Clock;
  /** Of prices and of faults by chance; the same seed makes the same ones. */
  readonly seed?: number;
  /** False: prices move only by hand. */
  readonly walk?: boolean;
  /** A SQLite file that keeps the exchange's world across restarts; absent: memory. */
  readonly journalPath?: string;
}

export interface PaperExchange {
  readonly url: string;
  readonly port: number;
  readonly control: PaperControl;
  /** Ends every connection and timer; resolves once the journal is closed. */
  close(): Promise<void>;
}

const host = '127.0.0.1';
const msBetweenTrades = 1000;

/**
 * Starts an exchange on this machine that speaks the service's HTTP API, with its signatures, nonces, limits and
 * refusals, and trades against a counterparty with endless pockets.
 *
 * @throws RelayError `store_unavailable` when the journal cannot be used; an Error when the port is taken
 */
export async function startPaperExchange(options: PaperOptions): Promise<PaperExchange> {
  const { dialect, clock = systemClock, seed = 1, walk = true, journalPath = null } = options;
  const trading = openTrading(journalPath);
  const faults = createFaultBox(createRandom(seed), dialect);
  const server = createServer();
  const closing = new AbortController();
  const outage = createOutage(server, host);
  const controlled: Controlled = {
    trading,
    faults,
    nowMs: () => clock.nowMs(),
    beginOutage: ({ id, durationMs }) => outage.begin(durationMs ?? 0, () => faults.remove(id)),
    endOutage: outage.end,
  };
  const control = createControl(controlled);
  const core = createPaperCore({ dialect, trading });
  const gateway = createGateway({ dialect, core, clock, faults, controlled, closing: closing.signal });
  server.on('request', (request, response: ServerResponse) => {
    // What breaks in here is the exchange's own failure, and looks like one.
    gateway(request, response).catch(() => response.destroy());
  });
  const port = await listen(server, options.port).catch(async (error: unknown) => {
    await trading.close();
    throw error;
  });
  // Prices have a source of their own: a fault by chance does not change the next price.
  const timer = walk ? startWalk(control, trading.world.prices, createRandom(seed + 1)) : undefined;

  return {
    url: `http://${host}:${port}`,
    port,
    control,
    async close() {
      clearInterval(timer);
      closing.abort();
      await outage.closeForGood();
      await trading.close();
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** One trade a second in every market. */
function startWalk(control: PaperControl, prices: ReadonlyMap<string, Decimal>, random: Random) {
  const timer = setInterval(() => {
    try {
      for (const market of paperMarkets.values()) {
        const { price, volume } = walkPrice(market, prices.get(market.name) ?? market.startPrice, random);
        control.setPrice(market.name, price, volume);
      }
    } catch {
      // Without its journal the exchange stands still, and every order is told so.
      clearInterval(timer);
    }
  }, msBetweenTrades);
  return timer;
}
