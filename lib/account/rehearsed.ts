import * as z from 'zod/mini';
import type { Json } from '../base/json.ts';
import type { AccountFacts, FactName } from '../ledger/account-facts.ts';
import type { TradingGround } from '../model/account.ts';
import { quoteInName } from '../model/market.ts';

/** What a rehearsal settles, in this order. The first five fill nothing. */
export const rehearsalSteps = ['1', '2', '3', '4', '5', '6'] as const;
export type RehearsalStep = (typeof rehearsalSteps)[number];

/** What a step has found out: its answers, by name. */
export type TrialAnswers = Readonly<Record<string, string | number | boolean>>;

/** The answer that the list of open orders shows the exits which the exchange makes. */
export const openOrdersAnswer = 'orders';

/** A step that has passed. */
export interface PassedStep {
  readonly atMs: number;
  /** The market in which it was tried. */
  readonly market: string;
  readonly found: TrialAnswers;
}

/** What was found out of the exchange for one trading ground of an account, by step. */
export type Rehearsed = Readonly<Partial<Record<RehearsalStep, PassedStep>>>;

/** The name under which the account keeps it. The answers hold for all markets of the ground. */
export function rehearsedFactOf(ground: TradingGround): FactName {
  return `rehearsal on ${ground}`;
}

const StepField = z.object({
  atMs: z.int(),
  market: z.string(),
  found: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});
const RehearsedField = z.object({ steps: z.record(z.string(), z.unknown()) });

/** A step that cannot be read has not passed. */
export function parseRehearsed(fact: Json): Rehearsed {
  const { steps = {} } = z.safeParse(RehearsedField, fact).data ?? {};
  return Object.fromEntries(
    rehearsalSteps.flatMap((step) => {
      const { data } = z.safeParse(StepField, steps[step]);
      return data === undefined ? [] : [[step, data] as const];
    }),
  );
}

/** The answers by which the relay decides. Each is what it assumes as long as nothing was found out. */
export interface Answers {
  /** How long after its last change an order may still get the exits that the exchange makes of it, in ms. */
  readonly exitsListedAfterMs: number;
  /** Whether a buy stop waits for a rise, and a sell stop for a fall, wherever the last price is. */
  readonly triggersBySide: boolean;
}

/** Nobody publishes how long it takes. */
export const assumedAnswers: Answers = {
  exitsListedAfterMs: 20_000,
  triggersBySide: false,
};

/** One trial is no bound: a wait is never shorter than this, unless no exits come at all. */
const leastExitsWaitMs = 10_000;
/** The alarm of a missing stop-loss comes after a minute. */
const longestExitsWaitMs = 50_000;

export function answersOf(rehearsed: Rehearsed): Answers {
  const { exits, exitsAfterMs } = rehearsed['6']?.found ?? {};
  return {
    exitsListedAfterMs: waitForExits(exits, exitsAfterMs),
    triggersBySide: rehearsed['4']?.found['trigger'] === 'by_side',
  };
}

/** @throws RelayError `store_unavailable` */
export async function readAnswers(
  facts: Pick<AccountFacts, 'read'>,
  account: string,
  ground: TradingGround,
): Promise<Answers> {
  return answersOf(parseRehearsed(await facts.read(account, rehearsedFactOf(ground))));
}

/**
 * How long after its last change an order on margin or futures may still get the exits that the exchange makes of it, in ms:
 * where no list shows any after that, there are none.
 *
 * @throws RelayError `store_unavailable`
 */
export async function readExitsListedAfter(
  facts: Pick<AccountFacts, 'read'>,
  account: string,
  market: string,
): Promise<number> {
  return (await readAnswers(facts, account, groundIn(market))).exitsListedAfterMs;
}

/**
 * Whether a rehearsal has found out that the list of open orders shows the exits that the exchange makes of an order, or that it
 * makes none.
 *
 * @throws RelayError `store_unavailable`
 */
export async function showsExits(
  facts: Pick<AccountFacts, 'read'>,
  account: string,
  market: string,
): Promise<boolean> {
  const rehearsed = parseRehearsed(await facts.read(account, rehearsedFactOf(groundIn(market))));
  const { exits, exitsListedIn } = rehearsed['6']?.found ?? {};
  return exits === 'none' || String(exitsListedIn).split(', ').includes(openOrdersAnswer);
}

function groundIn(market: string): TradingGround {
  return quoteInName(market) === null ? 'futures' : 'margin';
}

function waitForExits(
  exits: TrialAnswers[string] | undefined,
  afterMs: TrialAnswers[string] | undefined,
): number {
  if (exits === 'none') return 0;
  if (exits !== 'made' || typeof afterMs !== 'number') return assumedAnswers.exitsListedAfterMs;
  return Math.min(Math.max(2 * afterMs, leastExitsWaitMs), longestExitsWaitMs);
}
