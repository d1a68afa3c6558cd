import { type RehearsalStep, rehearsalSteps } from '../../lib/account/rehearsed.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createTransport } from '../../lib/base/transport.ts';
import type { Transport } from '../../lib/base/wire.ts';
import { createExchangeClient, type ExchangeClient } from '../../lib/exchange/client.ts';
import { markets as marketsEndpoint } from '../../lib/exchange/endpoints/markets.ts';
import type { ContestedFacts } from '../../lib/ledger/account-facts.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import type { TradingGround } from '../../lib/model/account.ts';
import type { ExitSettingsChange } from '../../lib/paper/engine/exit-settings.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { longestSilenceMs, RehearsalBook } from '../../lib/rehearsal/rehearsal-book.ts';
import { type RehearsalResult, rehearse } from '../../lib/rehearsal/rehearse.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';

/** Thrown where a process was killed: nothing of it runs on, no cleaning up either. */
export class Killed extends Error {}

/** When a run is killed: once its n-th request or write is done, counted from 1. */
export interface KillAt {
  readonly act: number;
}

export interface RunOptions {
  readonly from?: RehearsalStep;
  readonly to?: RehearsalStep;
  readonly market?: string;
  readonly ground?: TradingGround;
  readonly killAt?: KillAt;
  readonly isHedged?: boolean;
  readonly exits?: ExitSettingsChange;
  readonly confirm?: (step: RehearsalStep) => boolean;
}

/** A paper exchange on a clock that moves by hand, and the rehearsals of an account on it. */
export interface RehearsalWorld {
  readonly clock: ManualClock;
  readonly paper: PaperExchange;
  readonly facts: ContestedFacts;
  /** @throws Killed */
  run(options?: RunOptions): Promise<RehearsalResult>;
  /** How many requests and writes the last run made. */
  acts(): number;
  /** A client of the same account, as the owner's own hand. */
  readonly owner: ExchangeClient;
  /** Changes what the exchange answers to the runs from now on, for what the paper exchange cannot play. */
  alterBodies(alter: (body: string) => string): void;
  /** What of all accounts is open at the exchange: orders, and positions with their amounts. */
  left(): readonly string[];
  close(): Promise<void>;
}

/** @param kept where the answers are kept; absent: in SQLite */
export async function openRehearsalWorld(kept?: ContestedFacts): Promise<RehearsalWorld> {
  const clock = createManualClock(1_790_000_000_000);
  const paper = await startPaperExchange({ port: 0, dialect: 'live', clock, walk: false });
  for (const market of ['BTC_USDT', 'BTC_PERP', 'DBTC_DUSDT'])
    paper.control.setPrice(market, parseDecimal('50000'));
  const file = openSqlite(':memory:');
  const facts = kept ?? createSqliteAccountFacts(file);
  const wire = createTransport();
  let runs = 0;
  let alter = (body: string) => body;
  let killer = createKiller(undefined);
  const credentials = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
  const clientOn = (transport: Transport) =>
    createExchangeClient({
      ...{ address: paper.url, dialect: 'live', credentials, clock, transport },
      random: () => 0,
    });

  async function run(options: RunOptions = {}): Promise<RehearsalResult> {
    const { from = '1', to = '6', market = 'BTC_USDT', ground = 'margin' } = options;
    if (options.isHedged === true && !paper.control.state().accounts['main']?.hedgeMode)
      paper.control.setHedgeMode('main', true);
    if (options.exits !== undefined) paper.control.setExits(options.exits);
    // Until then the one that was killed could still be at work.
    if (killer.isDead()) clock.advance(longestSilenceMs);
    killer = createKiller(options.killAt);
    const { act } = killer;
    const transport: Transport = {
      send: async (request) => {
        const outcome = await act(() => wire.send(request));
        return outcome.kind === 'answered' ? { ...outcome, body: alter(outcome.body) } : outcome;
      },
      close: () => undefined,
    };
    const client = clientOn(transport);
    const markets = new Map((await client.call(marketsEndpoint, {})).map((one) => [one.name, one]));
    const found = markets.get(market);
    if (found === undefined) throw new Error(`there is no market ${market}`);
    const mortal: ContestedFacts = {
      read: facts.read,
      write: (...fact) => act(() => facts.write(...fact)),
      replace: (...fact) => act(() => facts.replace(...fact)),
    };
    const by = `run ${++runs}`;
    const book = await RehearsalBook.open({ facts: mortal, account: 'main', ground, by, clock });
    const slippageRate = parseDecimal('0.005');
    const limits = { timeoutMs: 5_000 };
    const stage = { clock, client, market: found, ground, book, slippageRate, limits };
    const confirm = async (name: RehearsalStep) => options.confirm?.(name) ?? true;
    const result = await rehearse(stage, markets, {
      steps: new Set(rehearsalSteps.filter((step) => step >= from && step <= to)),
      confirm: (step) => confirm(step.name),
      tell: () => undefined,
    });
    await book.close();
    return result;
  }

  return {
    clock,
    paper,
    facts,
    run,
    acts: () => killer.acts(),
    owner: clientOn(wire),
    alterBodies(change) {
      alter = change;
    },
    left() {
      const { orders, accounts } = paper.control.state();
      return [
        ...orders
          .filter(({ status }) => status === 'open' || status === 'partially_filled')
          .map(({ side, market, orderId }) => `order ${orderId}: ${side} ${market}`),
        ...Object.values(accounts).flatMap(({ positions }) =>
          Object.entries(positions).map(([market, { amount }]) => `position ${market}: ${amount}`),
        ),
      ];
    },
    async close() {
      wire.close();
      await paper.close();
      file.close();
    },
  };
}

/** Counts what a run does outside of itself, and ends it there. */
function createKiller(killAt: KillAt | undefined) {
  let acts = 0;
  let isDead = false;
  return {
    acts: () => acts,
    isDead: () => isDead,
    async act<T>(work: () => Promise<T>): Promise<T> {
      if (isDead) throw new Killed();
      acts += 1;
      isDead = acts === killAt?.act;
      const done = await work();
      if (isDead) throw new Killed();
      return done;
    },
  };
}
