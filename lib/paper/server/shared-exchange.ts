import type { Dialect } from '../../exchange/dialect.ts';
import { paperMarkets } from '../engine/markets.ts';
import { JournalMoved, openSharedTrading, type SharedJournal } from '../engine/shared-trading.ts';
import type { PaperKeys } from '../requests/access.ts';
import { createPaperCore, type PaperCore, type PaperRequest, type PaperResponse } from './exchange.ts';
import { priceAt } from './wave-prices.ts';

export interface SharedExchangeOptions {
  readonly dialect: Dialect;
  readonly journal: SharedJournal;
  readonly keys: PaperKeys;
  /** Seed of the prices: processes of one exchange need the same one. */
  readonly seed: number;
}

/** Each time another process was first. */
const maximumTries = 8;

/**
 * The paper exchange as one of several processes that share it. Prices move when a request comes, to where they are at that
 * time. Nonces and rate limits are those of this process.
 *
 * @returns handles one request after another, each with its effect stored
 * @throws RelayError `store_unavailable`
 */
export function openSharedExchange(
  options: SharedExchangeOptions,
): (request: PaperRequest) => Promise<PaperResponse> {
  const trading = openSharedTrading(options.journal);
  const createCore = () => createPaperCore({ ...options, trading });
  const usual = createCore();
  let last: Promise<unknown> = Promise.resolve();

  function movePrices(atMs: number): void {
    for (const market of paperMarkets.values()) {
      const price = priceAt(market, atMs, options.seed);
      if (trading.state.prices.get(market.name)?.eq(price) !== true)
        trading.execute({ kind: 'trade', atMs, market: market.name, price, volume: null });
    }
  }

  async function tryOnce(core: PaperCore, request: PaperRequest): Promise<PaperResponse> {
    await trading.catchUp();
    movePrices(request.atMs);
    const response = await core.handle(request);
    await trading.settle();
    return response;
  }

  async function handle(request: PaperRequest): Promise<PaperResponse> {
    for (let tries = 1; ; tries += 1)
      try {
        // The first try has used the nonce: it was good, and must not be taken for one that is used again.
        return await tryOnce(tries === 1 ? usual : createCore(), request);
      } catch (error) {
        if (!(error instanceof JournalMoved) || tries === maximumTries) throw error;
      }
  }

  return (request) => {
    const response = last.then(() => handle(request));
    last = response.catch(() => undefined);
    return response;
  };
}
