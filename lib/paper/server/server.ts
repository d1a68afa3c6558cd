import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { Decimal } from '../../base/decimal.ts';
import { createRandom, type Random } from '../../base/random.ts';
import type { Dialect } from '../../exchange/dialect.ts';
import { paperMarkets } from '../engine/markets.ts';
import { openTrading } from '../engine/trading.ts';
import { createFaultBox } from '../faults/faults.ts';
import { createOutage } from '../faults/outage.ts';
import { type Controlled, createControl, type PaperControl } from './control.ts';
import { createPaperCore } from './exchange.ts';
import { createGateway } from './gateway.ts';
import { walkPrice } from './prices.ts';

export interface PaperOptions {
  /** 0: any free port. */
  readonly port: number;
  readonly dialect: Dialect;
  readonly clock?: Clock;
  /** Seed of the random prices and random faults. The same seed gives the same ones. */
  readonly seed?: number;
  /** False: only the controls change prices. */
  readonly walk?: boolean;
  /** A SQLite file that keeps the exchange's state across restarts; absent: memory. */
  readonly journalPath?: string;
}

export interface PaperExchange {
  readonly url: string;
  readonly port: number;
  readonly control: PaperControl;
  /** Whether an older release had stored orders and balances, which this one cannot read and has removed. */
  readonly wasEmptied: boolean;
  /** Ends every connection and timer. Resolves once the journal is closed. */
  close(): Promise<void>;
}

const host = '127.0.0.1';
const msBetweenTrades = 1000;

/**
 * Starts an exchange on this machine with the service's HTTP API, its signatures, nonces, limits and
 * refusals. Orders trade against one counterparty with unlimited funds, and against each other.
 *
 * @throws RelayError `store_unavailable` when the journal cannot be used; an Error when the port is taken
 */
export async function startPaperExchange(options: PaperOptions): Promise<PaperExchange> {
  const { dialect, clock = systemClock, seed = 1, walk = true, journalPath = null } = options;
  const trading = openTrading(journalPath, clock.nowMs());
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
    // An exception here is a failure of the exchange, so the client sees a broken connection.
    gateway(request, response).catch(() => response.destroy());
  });
  const port = await listen(server, options.port).catch(async (error: unknown) => {
    await trading.close();
    throw error;
  });
  // Prices have their own random source, so that a random fault does not change the next price.
  const timer = walk ? startWalk(control, trading.state.prices, createRandom(seed + 1)) : undefined;

  return {
    url: `http://${host}:${port}`,
    port,
    control,
    wasEmptied: trading.wasEmptied,
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
      // The journal is lost: prices stop, and every order is refused.
      clearInterval(timer);
    }
  }, msBetweenTrades);
  return timer;
}
