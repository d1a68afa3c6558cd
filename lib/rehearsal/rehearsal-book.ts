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
import type { Clock } from '../base/clock.ts';
import { RelayError } from '../base/errors.ts';
import { type Json, toJson } from '../base/json.ts';
import type { AccountFacts, ContestedFacts } from '../ledger/account-facts.ts';
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

/** Who rehearses now. */
const HolderField = z.object({ by: z.string(), sinceMs: z.int(), aliveAtMs: z.int() });
type Holder = z.output<typeof HolderField>;
const HeldField = z.object({ holder: z.nullable(HolderField) });

/** How often whoever rehearses gives a sign of life, also while it waits for an answer of the owner. */
export const aliveEveryMs = 5_000;

/** Whoever has given none for so long was killed. */
export const longestSilenceMs = 30_000;

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
  return notesOf(await facts.read(account, rehearsedFactOf(ground)));
}

/**
 * What a rehearsal writes down: each order before it is sent, so that whoever is killed finds it again, and the answers.
 * Only one process at a time has it open. Every method is durable once it resolves, and throws RelayError
 * `store_unavailable`, or `rehearsal_in_use` once another process has it, which took this one for killed.
 */
export class RehearsalBook {
  readonly #facts: ContestedFacts;
  readonly #account: string;
  readonly #ground: TradingGround;
  readonly #clock: Clock;
  readonly #own: Pick<Holder, 'by' | 'sinceMs'>;
  #notes: RehearsalNotes;
  /** As it was read or written last. */
  #kept: Json;
  /** The write before: a sign of life may come while another one is under way. */
  #writing: Promise<void> = Promise.resolve();
  #noted = 0;

  private constructor({ facts, account, ground, by, clock }: BookOptions, kept: Json) {
    this.#facts = facts;
    this.#account = account;
    this.#ground = ground;
    this.#clock = clock;
    this.#own = { by, sinceMs: clock.nowMs() };
    this.#notes = notesOf(kept);
    this.#kept = kept;
  }

  static async open(options: BookOptions): Promise<RehearsalBook> {
    const { facts, account, ground, clock } = options;
    const kept = await facts.read(account, rehearsedFactOf(ground));
    const holder = holderOf(kept);
    // Its clock may be another one.
    if (holder !== null && Math.abs(clock.nowMs() - holder.aliveAtMs) < longestSilenceMs)
      throw createInUse(account, ground, holder);
    const book = new RehearsalBook(options, kept);
    await book.showAlive();
    return book;
  }

  /** To be called every {@link aliveEveryMs}. */
  async showAlive(): Promise<void> {
    await this.#write((notes) => notes);
  }

  /** Lets the next one in at once. */
  async close(): Promise<void> {
    await this.#write((notes) => notes, null);
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
    await this.#write((notes) => ({ ...notes, sent: [...notes.sent, order] }));
  }

  /** Of orders that are surely not at the exchange any more. */
  async forget(orders: readonly Pick<SentOrder, 'clientOrderId'>[]): Promise<void> {
    const gone = new Set(orders.map(({ clientOrderId }) => clientOrderId));
    await this.#write((notes) => ({
      ...notes,
      sent: notes.sent.filter(({ clientOrderId }) => !gone.has(clientOrderId)),
    }));
  }

  async pass(step: RehearsalStep, passed: PassedStep): Promise<void> {
    await this.#write((notes) => ({
      ...notes,
      rehearsed: { ...notes.rehearsed, [step]: passed },
      stopped: notes.stopped?.step === step ? null : notes.stopped,
    }));
  }

  /** What an earlier rehearsal found in this step does not hold any more. */
  async stop(step: RehearsalStep, atMs: number, reason: string): Promise<void> {
    await this.#write((notes) => {
      const { [step]: _, ...rehearsed } = notes.rehearsed;
      return { ...notes, rehearsed, stopped: { step, atMs, reason } };
    });
  }

  async #write(
    change: (notes: RehearsalNotes) => RehearsalNotes,
    own: Pick<Holder, 'by' | 'sinceMs'> | null = this.#own,
  ): Promise<void> {
    const written = this.#writing.then(async () => {
      const notes = change(this.#notes);
      const holder = own === null ? null : { ...own, aliveAtMs: this.#clock.nowMs() };
      await this.#replace(describeNotes(notes, holder));
      this.#notes = notes;
    });
    this.#writing = written.catch(() => undefined);
    await written;
  }

  async #replace(fact: Json): Promise<void> {
    const name = rehearsedFactOf(this.#ground);
    if (!(await this.#facts.replace(this.#account, name, fact, this.#kept))) {
      const found = await this.#facts.read(this.#account, name);
      const holder = holderOf(found);
      // A write whose response was lost may have happened.
      const isOwn = holder?.by === this.#own.by && holder.sinceMs === this.#own.sinceMs;
      if (!isOwn || !(await this.#facts.replace(this.#account, name, fact, found)))
        throw createInUse(this.#account, this.#ground, holder);
    }
    this.#kept = fact;
  }
}

interface BookOptions {
  readonly facts: ContestedFacts;
  readonly account: string;
  readonly ground: TradingGround;
  /** Who opens it, for whoever comes second. */
  readonly by: string;
  readonly clock: Clock;
}

function notesOf(fact: Json): RehearsalNotes {
  const { sent = [], stopped = null } = z.safeParse(BookField, fact).data ?? {};
  return { rehearsed: parseRehearsed(fact), sent, stopped };
}

function holderOf(fact: Json): Holder | null {
  return z.safeParse(HeldField, fact).data?.holder ?? null;
}

function describeNotes({ rehearsed, sent, stopped }: RehearsalNotes, holder: Holder | null): Json {
  return toJson({ steps: rehearsed, sent, stopped, holder });
}

function createInUse(account: string, ground: TradingGround, holder: Holder | null): RelayError {
  const who =
    holder === null
      ? 'another process'
      : `${holder.by} since ${new Date(holder.sinceMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  return new RelayError('rehearsal_in_use', `account ${account} is rehearsed on ${ground} by ${who}`);
}

/** How a step ended. */
export type StepOutcome =
  | { readonly passed: true; readonly found: TrialAnswers }
  /** The exchange answered in a way that the relay must not meet with money, or it could not be asked. */
  | { readonly passed: false; readonly reason: string };

export function stopAt(reason: string): StepOutcome {
  return { passed: false, reason };
}
