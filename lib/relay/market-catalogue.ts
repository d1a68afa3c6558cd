import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/describe-error.ts';
import type { Log } from '../base/log.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { markets as marketsEndpoint } from '../exchange/endpoints/markets.ts';
import type { MarketCopies } from '../ledger/market-copies.ts';
import type { Market } from '../model/market.ts';

/** The rules of every market, as the exchange states them. */
export interface MarketCatalogue {
  /**
   * The market's rules; null when the exchange lists no such market.
   *
   * @throws ExchangeError when no copy at hand lists the market, and the exchange cannot be asked now
   */
  find(name: string): Promise<Market | null>;
}

export interface CatalogueOptions {
  readonly client: ExchangeClient;
  readonly clock: Clock;
  readonly log: Log;
  /** Where the newest copy outlives this process. */
  readonly copies: MarketCopies;
  /** The markets that are worth keeping. */
  readonly traded: ReadonlySet<string>;
  /** How long one reading may hold up a signal of a market that no copy lists. */
  readonly timeoutMs: number;
}

/** Precision and minima change rarely; an outdated one is refused by the exchange, never wrongly filled. */
const refreshAfterMs = 10 * 60_000;
const saveAfterMs = 10 * 60_000;
/** What a copy of this age does not list may have been listed since. */
const newListingAfterMs = 60_000;
const firstPauseMs = 5_000;
const longestPauseMs = 5 * 60_000;
/** Nobody waits for a reading behind, and pauses of its own follow it: no attempt of it starts later than this. */
const behindAttemptsMs = 1_000;
/** By then a reading has ended, unless its process was frozen. */
const readingGraceMs = 1_000;

/**
 * Answers from a copy of the exchange's list: the kept one at first, then the one read last, whatever its age. A copy
 * that is older than ten minutes is read anew behind the response, one reading at a time, and less and less often while
 * the exchange does not answer. Only a signal of a market that no copy lists waits for a reading, or of one that an
 * older copy shows closed.
 */
export function createMarketCatalogue(options: CatalogueOptions): MarketCatalogue & {
  /** Resolves once nothing goes on behind any more. */
  settle(): Promise<void>;
} {
  return new Catalogue(options);
}

interface Copy {
  /** When its reading began: what was frozen in between is not newer than that. */
  readonly readAtMs: number;
  /** Readings are numbered as they begin; a kept copy has 0. */
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
  /** How long after the last failure nothing is read behind; 0 after a success. */
  #pauseMs = 0;
  #savedAtMs: number | null = null;
  readonly #behind = new Set<Promise<unknown>>();

  constructor(options: CatalogueOptions) {
    this.#options = options;
  }

  async find(name: string): Promise<Market | null> {
    const copy = this.#copy ?? (await this.#open());
    const market = copy.markets.get(name);
    // A market that is closed is refused here and not by the exchange, which may have opened it since.
    if (market?.tradesEnabled === false && this.#hasPassed(copy.readAtMs, newListingAfterMs))
      return await this.#readClosed(market);
    if (market !== undefined) {
      this.#refreshBehind(copy);
      return market;
    }
    // A kept copy has not all markets, and proves nothing of those it does not list.
    const isConclusive = copy.number > 0 && !this.#hasPassed(copy.readAtMs, newListingAfterMs);
    if (isConclusive) return null;
    return (await this.#readForSignal()).markets.get(name) ?? null;
  }

  /** While the list is silent, it is closed as far as anybody knows. */
  async #readClosed(market: Market): Promise<Market | null> {
    const reading = await this.#readForSignal().catch(() => null);
    return reading === null ? market : (reading.markets.get(market.name) ?? null);
  }

  async settle(): Promise<void> {
    while (this.#behind.size > 0) await Promise.allSettled(this.#behind);
  }

  /** The first copy: the kept one, else the list itself. */
  async #open(): Promise<Copy> {
    await this.#loadOnce();
    if (this.#copy !== null) return this.#copy;
    try {
      return await this.#readForSignal();
    } catch (error) {
      // Another signal may have found one meanwhile.
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
      this.#options.log.warn('the kept copy of the market list could not be loaded', {
        reason: describeError(error),
      });
    }
  }

  /** What was begun before may fail of something that is over by now: who only joined it has a try left. */
  async #readForSignal(): Promise<Copy> {
    const joined = await this.#running()?.done.catch(() => null);
    return joined ?? (await (this.#running() ?? this.#begin()).done);
  }

  #refreshBehind({ readAtMs }: Copy): void {
    if (!this.#hasPassed(readAtMs, refreshAfterMs) || this.#running() !== null) return;
    if (this.#hasPassed(this.#failedAtMs, this.#pauseMs))
      this.#begin({ notAfterMs: this.#options.clock.nowMs() + behindAttemptsMs });
  }

  /** A process that was frozen after it had answered finds a reading whose time is long up: it has failed. */
  #running(): Reading | null {
    const reading = this.#reading;
    if (reading === null) return null;
    const elapsedMs = this.#options.clock.nowMs() - reading.startedAtMs;
    if (elapsedMs <= this.#options.timeoutMs + readingGraceMs) return reading;
    this.#noteFailure(
      reading,
      `no response after ${elapsedMs} ms, for most of which this process may have been frozen`,
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
    this.#goOnBehind(reading.done);
    return reading;
  }

  #take(reading: Reading, list: readonly Market[]): Copy {
    if (this.#reading === reading) this.#reading = null;
    const { startedAtMs, number } = reading;
    const copy: Copy = { readAtMs: startedAtMs, number, markets: byName(list) };
    // A reading that was frozen may end after one that began later.
    if (number < (this.#copy?.number ?? 0)) return copy;
    this.#copy = copy;
    this.#pauseMs = 0;
    this.#saveBehind(copy);
    return copy;
  }

  /** Once for each reading: one that was given up before may still fail by itself. */
  #noteFailure(reading: Reading, reason: string): void {
    if (this.#reading !== reading) return;
    const { clock, log } = this.#options;
    this.#reading = null;
    this.#failedAtMs = clock.nowMs();
    this.#pauseMs = this.#pauseMs === 0 ? firstPauseMs : Math.min(this.#pauseMs * 2, longestPauseMs);
    if (this.#copy === null) return;
    log.warn('the market list could not be read; orders go on with the copy of it', {
      copyOf: new Date(this.#copy.readAtMs).toISOString(),
      reason,
    });
  }

  #saveBehind({ readAtMs, markets }: Copy): void {
    const { clock, copies, log, traded } = this.#options;
    if (this.#savedAtMs !== null && !this.#hasPassed(this.#savedAtMs, saveAfterMs)) return;
    const worthKeeping = [...markets.values()].filter(({ name }) => traded.has(name));
    if (worthKeeping.length === 0) return;
    this.#savedAtMs = clock.nowMs();
    const saving = copies.save({ readAtMs, markets: worthKeeping }).catch((error: unknown) => {
      log.warn('the market list could not be kept for the next start', { reason: describeError(error) });
    });
    this.#goOnBehind(saving);
  }

  #goOnBehind(task: Promise<unknown>): void {
    const ended = task.catch(() => undefined).finally(() => this.#behind.delete(ended));
    this.#behind.add(ended);
  }

  /** What lies in the future was written by a clock that has been set back since: nobody knows how long ago. */
  #hasPassed(sinceMs: number, durationMs: number): boolean {
    const elapsedMs = this.#options.clock.nowMs() - sinceMs;
    return elapsedMs < 0 || elapsedMs > durationMs;
  }
}

function byName(markets: readonly Market[]): ReadonlyMap<string, Market> {
  return new Map(markets.map((market) => [market.name, market]));
}
