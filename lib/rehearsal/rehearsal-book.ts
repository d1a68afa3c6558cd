import * as z from 'zod/mini';
import {
  type PassedStep,
  parseRehearsed,
  type RehearsalStep,
  type Rehearsed,
  rehearsalSteps,
  rehearsedFactOf,
  type TrialAnswers,
} from '../account/rehearsed.ts';
import { type Json, toJson } from '../base/json.ts';
import type { AccountFacts } from '../ledger/account-facts.ts';
import type { TradingGround } from '../model/account.ts';
import { positionSides, sides } from '../model/order.ts';

/** An order of the rehearsal that may be at the exchange. */
const SentField = z.object({
  clientOrderId: z.string(),
  market: z.string(),
  side: z.enum(sides),
  step: z.enum(rehearsalSteps),
  atMs: z.int(),
  /** The trigger price and the limit price of the exits that were sent with it, as text; null: none were sent. */
  stopLoss: z.nullable(z.string()),
  takeProfit: z.nullable(z.string()),
  /** Of an account in hedge mode. */
  positionSide: z.optional(z.enum(positionSides)),
});
export type SentOrder = z.output<typeof SentField>;

/** The step that did not pass when it was tried last, and why. */
const StoppedField = z.object({ step: z.enum(rehearsalSteps), atMs: z.int(), reason: z.string() });
export type StoppedStep = z.output<typeof StoppedField>;

const BookField = z.object({ sent: z.array(SentField), stopped: z.nullable(StoppedField) });

/** What is kept of the rehearsals of one account on one trading ground. */
export interface RehearsalNotes {
  readonly rehearsed: Rehearsed;
  readonly sent: readonly SentOrder[];
  readonly stopped: StoppedStep | null;
}

/** @throws RelayError `store_unavailable` */
export async function readNotes(
  facts: AccountFacts,
  account: string,
  ground: TradingGround,
): Promise<RehearsalNotes> {
  const fact = await facts.read(account, rehearsedFactOf(ground));
  const { sent = [], stopped = null } = z.safeParse(BookField, fact).data ?? {};
  return { rehearsed: parseRehearsed(fact), sent, stopped };
}

/**
 * What a rehearsal writes down: each order before it is sent, so that whoever is killed finds it again, and the answers.
 * Every method is durable once it resolves, and throws RelayError `store_unavailable`.
 */
export class RehearsalBook {
  readonly #facts: AccountFacts;
  readonly #account: string;
  readonly #ground: TradingGround;
  #notes: RehearsalNotes;
  #noted = 0;

  private constructor(facts: AccountFacts, account: string, ground: TradingGround, notes: RehearsalNotes) {
    this.#facts = facts;
    this.#account = account;
    this.#ground = ground;
    this.#notes = notes;
  }

  static async open(facts: AccountFacts, account: string, ground: TradingGround): Promise<RehearsalBook> {
    return new RehearsalBook(facts, account, ground, await readNotes(facts, account, ground));
  }

  get notes(): RehearsalNotes {
    return this.#notes;
  }

  /** How many orders were written down since it was opened. */
  get noted(): number {
    return this.#noted;
  }

  async note(order: SentOrder): Promise<void> {
    this.#noted += 1;
    await this.#write({ ...this.#notes, sent: [...this.#notes.sent, order] });
  }

  /** Of orders that are surely not at the exchange any more. */
  async forget(orders: readonly Pick<SentOrder, 'clientOrderId'>[]): Promise<void> {
    const gone = new Set(orders.map(({ clientOrderId }) => clientOrderId));
    const sent = this.#notes.sent.filter(({ clientOrderId }) => !gone.has(clientOrderId));
    await this.#write({ ...this.#notes, sent });
  }

  async pass(step: RehearsalStep, passed: PassedStep): Promise<void> {
    const { stopped } = this.#notes;
    await this.#write({
      ...this.#notes,
      rehearsed: { ...this.#notes.rehearsed, [step]: passed },
      stopped: stopped?.step === step ? null : stopped,
    });
  }

  /** What an earlier rehearsal found in this step does not hold any more. */
  async stop(step: RehearsalStep, atMs: number, reason: string): Promise<void> {
    const { [step]: _, ...rehearsed } = this.#notes.rehearsed;
    await this.#write({ ...this.#notes, rehearsed, stopped: { step, atMs, reason } });
  }

  async #write(notes: RehearsalNotes): Promise<void> {
    await this.#facts.write(this.#account, rehearsedFactOf(this.#ground), describeNotes(notes));
    this.#notes = notes;
  }
}

function describeNotes({ rehearsed, sent, stopped }: RehearsalNotes): Json {
  return toJson({ steps: rehearsed, sent, stopped });
}

/** How a step ended. */
export type StepOutcome =
  | { readonly passed: true; readonly found: TrialAnswers }
  /** The exchange answered in a way that the relay must not meet with money, or it could not be asked. */
  | { readonly passed: false; readonly reason: string };

export function stopAt(reason: string): StepOutcome {
  return { passed: false, reason };
}
