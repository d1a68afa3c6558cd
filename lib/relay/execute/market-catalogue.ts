import type { Clock } from '../../base/clock.ts';
import { describeError } from '../../base/describe-error.ts';
import type { Log } from '../../base/log.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { markets as marketsEndpoint } from '../../exchange/endpoints/markets.ts';
import type { MarketCopies } from '../../ledger/market-copies.ts';
import type { Market } from '../../model/market.ts';

/**
 * The rules of every market, as the exchange states them.
 *
 * @see DECISIONS 12
 */
export interface MarketCatalogue {
  /**
   * The market's rules; null when the exchange lists no such market.
   *
   * @throws ExchangeError when no copy lists the market and the exchange's list cannot be read now
   */
  find(name: string): Promise<Market | null>;
}

export interface CatalogueOptions {
  readonly client: ExchangeClient;
  readonly clock: Clock;
  readonly log: Log;
  /** The store of the newest copy, which outlives this process. */
  readonly copies: MarketCopies;
  /** The markets whose rules are stored. */
  readonly traded: ReadonlySet<string>;
  /** How long a signal may wait for one reading. */
  readonly timeoutMs: number;
}

/** Precision and minima change rarely. If they are outdated, the exchange refuses the order. */
const refreshAfterMs = 10 * 60_000;
const saveAfterMs = 10 * 60_000;
/** After this age, a copy no longer proves that a market is not listed, or that it is closed. */
const newListingAfterMs = 60_000;
const firstPauseMs = 5_000;
const longestPauseMs = 5 * 60_000;
/** No attempt of a background reading starts later than this: no signal waits for it. */
const backgroundAttemptsMs = 1_000;
/** A reading that still runs this long after its timeout belongs to a process that was frozen. */
const readingGraceMs = 1_000;

/**
 * Serves market rules from a copy of the exchange's list, whatever its age: the stored copy at first, then
 * the latest reading. A copy older than ten minutes is refreshed in the background, one reading at a time,
 * with growing pauses while readings fail. A signal waits for a reading only when no copy lists its market,
 * or when a copy older than a minute shows the market closed.
 */
export function createMarketCatalogue(options: CatalogueOptions): MarketCatalogue & {
  /** Resolves once no background task is running. */
  settle(): Promise<void>;
  /**
   * Reads whatever the next signal would find too old, if it comes within that time. A failed reading is logged, and pauses
   * further ones as after a failure in the background.
   */
  keepFresh(forMs: number): Promise<void>;
} {
  return new Catalogue(options);
}

interface Copy {
  /** When its reading started: after a freeze in between, the list is no newer than that. */
  readonly readAtMs: number;
  /** The number of its reading, in the order in which readings start; 0 for the stored copy. */
  readonly number: number;
  readonly markets: ReadonlyMap<string, Market>;
}

interface Reading {
  readonly startedAtMs: number;
  readonly number: number;
  readonly done: Promise<Copy>;
}

class Catalogue implements MarketCatalogue {
  readonly #options: CatalogueOptions;
  #copy: Copy | null = null;
  #loading: Promise<void> | null = null;
  #reading: Reading | null = null;
  #readings = 0;
  #failedAtMs = 0;
  /** How long background readings pause after the last failure; 0 after a success. */
  #pauseMs = 0;
  #savedAtMs: number | null = null;
  readonly #background = new Set<Promise<unknown>>();

  constructor(options: CatalogueOptions) {
    this.#options = options;
  }

  async find(name: string): Promise<Market | null> {
    const copy = this.#copy ?? (await this.#open());
    const market = copy.markets.get(name);
    // The relay itself refuses orders in a closed market, and the market may have opened since the copy was
    // read.
    if (market?.tradesEnabled === false && this.#isOlderThan(copy.readAtMs, newListingAfterMs))
      return await this.#readClosed(market);
    if (market !== undefined) {
      this.#refreshInBackground(copy);
      return market;
    }
    // The stored copy holds only some markets, so it does not prove that a market is not listed.
    const isConclusive = copy.number > 0 && !this.#isOlderThan(copy.readAtMs, newListingAfterMs);
    if (isConclusive) return null;
    return (await this.#readForSignal()).markets.get(name) ?? null;
  }

  /** When the list cannot be read, the market still counts as closed. */
  async #readClosed(market: Market): Promise<Market | null> {
    const reading = await this.#readForSignal().catch(() => null);
    return reading === null ? market : (reading.markets.get(market.name) ?? null);
  }

  async settle(): Promise<void> {
    while (this.#background.size > 0) await Promise.allSettled(this.#background);
  }

  async keepFresh(forMs: number): Promise<void> {
    if (this.#copy === null) await this.#loadOnce();
    this.#refreshInBackground(this.#copy, refreshAfterMs - forMs);
    // Lambda freezes what still runs when its call ends.
    await this.settle();
  }

  /** The first copy: the stored one, else the exchange's list. */
  async #open(): Promise<Copy> {
    await this.#loadOnce();
    if (this.#copy !== null) return this.#copy;
    try {
      return await this.#readForSignal();
    } catch (error) {
      // Another signal may have obtained a copy meanwhile.
      if (this.#copy !== null) return this.#copy;
      throw error;
    }
  }

  #loadOnce(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    try {
      const kept = await this.#options.copies.load();
      if (kept !== null) this.#copy ??= { readAtMs: kept.readAtMs, number: 0, markets: byName(kept.markets) };
    } catch (error) {
      this.#options.log.warn('the stored copy of the market list could not be loaded', {
        reason: describeError(error),
      });
    }
  }

  /** Joins a running reading. If that one fails, one more is tried: the cause may have passed. */
  async #readForSignal(): Promise<Copy> {
    const joined = await this.#running()?.done.catch(() => null);
    return joined ?? (await (this.#running() ?? this.#begin()).done);
  }

  #refreshInBackground(copy: Copy | null, afterMs = refreshAfterMs): void {
    if ((copy !== null && !this.#isOlderThan(copy.readAtMs, afterMs)) || this.#running() !== null) return;
    if (this.#isOlderThan(this.#failedAtMs, this.#pauseMs))
      this.#begin({ notAfterMs: this.#options.clock.nowMs() + backgroundAttemptsMs });
  }

  /** A reading far beyond its timeout counts as failed: the process was frozen after its response. */
  #running(): Reading | null {
    const reading = this.#reading;
    if (reading === null) return null;
    const elapsedMs = this.#options.clock.nowMs() - reading.startedAtMs;
    if (elapsedMs <= this.#options.timeoutMs + readingGraceMs) return reading;
    this.#noteFailure(
      reading,
      `no response after ${elapsedMs} ms; this process may have been frozen for most of that time`,
    );
    return null;
  }

  #begin(limits: Pick<SendOptions, 'notAfterMs'> = {}): Reading {
    const { client, clock, timeoutMs } = this.#options;
    this.#readings += 1;
    const asked = client.call(marketsEndpoint, {}, { timeoutMs, ...limits });
    const reading: Reading = {
      startedAtMs: clock.nowMs(),
      number: this.#readings,
      done: asked.then(
        (list) => this.#take(reading, list),
        (error: unknown) => {
          this.#noteFailure(reading, describeError(error));
          throw error;
        },
      ),
    };
    this.#reading = reading;
    this.#runInBackground(reading.done);
    return reading;
  }

  #take(reading: Reading, list: readonly Market[]): Copy {
    if (this.#reading === reading) this.#reading = null;
    const { startedAtMs, number } = reading;
    const copy: Copy = { readAtMs: startedAtMs, number, markets: byName(list) };
    // A reading that was frozen may finish after one that started later.
    if (number < (this.#copy?.number ?? 0)) return copy;
    this.#copy = copy;
    this.#pauseMs = 0;
    this.#saveInBackground(copy);
    return copy;
  }

  /** Counts each reading once: a reading that was already given up may still fail by itself. */
  #noteFailure(reading: Reading, reason: string): void {
    if (this.#reading !== reading) return;
    const { clock, log } = this.#options;
    this.#reading = null;
    this.#failedAtMs = clock.nowMs();
    this.#pauseMs = this.#pauseMs === 0 ? firstPauseMs : Math.min(this.#pauseMs * 2, longestPauseMs);
    if (this.#copy === null) return;
    log.warn('the market list could not be read; orders use the last copy of it', {
      copyOf: new Date(this.#copy.readAtMs).toISOString(),
      reason,
    });
  }

  #saveInBackground({ readAtMs, markets }: Copy): void {
    const { clock, copies, log, traded } = this.#options;
    if (this.#savedAtMs !== null && !this.#isOlderThan(this.#savedAtMs, saveAfterMs)) return;
    const worthKeeping = [...markets.values()].filter(({ name }) => traded.has(name));
    if (worthKeeping.length === 0) return;
    this.#savedAtMs = clock.nowMs();
    const saving = copies.save({ readAtMs, markets: worthKeeping }).catch((error: unknown) => {
      log.warn('the market list could not be stored for the next start', { reason: describeError(error) });
    });
    this.#runInBackground(saving);
  }

  #runInBackground(task: Promise<unknown>): void {
    const ended = task.catch(() => undefined).finally(() => this.#background.delete(ended));
    this.#background.add(ended);
  }

  /** Also of a time in the future: it was noted before the clock was set back. */
  #isOlderThan(sinceMs: number, durationMs: number): boolean {
    const elapsedMs = this.#options.clock.nowMs() - sinceMs;
    return elapsedMs < 0 || elapsedMs > durationMs;
  }
}

function byName(markets: readonly Market[]): ReadonlyMap<string, Market> {
  return new Map(markets.map((market) => [market.name, market]));
}
