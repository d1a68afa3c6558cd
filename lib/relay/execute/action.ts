import type { Alarm } from '../../base/alarms.ts';
import type { Json } from '../../base/json.ts';
import type { SendOptions } from '../../exchange/client.ts';
import type { Entry } from '../../ledger/entry.ts';
import type { OrderRequest } from '../../model/order.ts';
import type { Denial, Status } from '../../model/outcome.ts';
import type { CountedFact, StepFacts } from '../../model/step-facts.ts';

/** What the limits of growing risk say of an order. */
export interface LimitVerdict {
  readonly denial: Denial | null;
  /** Whether the order can only reduce a position, so that no limit of growing risk holds for it. */
  readonly reduces: boolean;
  /** Present when it reduces by its size alone and would be denied without the position: it must be sent as one that only reduces. */
  readonly mustReduce?: true;
  /**
   * Whether it reduces by its size alone, so that it may be sent as one that only reduces; absent where it may not, or need not.
   * It is read where no limit had to know it. False where it cannot be read.
   *
   * @throws RelayError `store_unavailable`
   */
  readonly readReduces?: () => Promise<boolean>;
  /** Stored with the `sending` step, so that later orders count this one; null when the account has no such limits. */
  readonly counted: CountedFact | null;
  /** What time alone can change: checked again right before the order is sent. */
  checkTime(nowMs: number): Denial | null;
  /**
   * Called once the order counts as open: whether orders of other markets, which are sent at the same time, leave room. It
   * may wait for those that were stored later.
   *
   * @throws RelayError `store_unavailable`
   */
  checkOthers(begun: BegunOrder): Promise<Denial | null>;
}

/** An order whose `sending` is stored and that is not sent yet. */
export interface BegunOrder {
  readonly entry: Pick<Entry, 'signalId' | 'createdAtMs'>;
  /** The latest time at which it may still wait for others. */
  readonly waitUntilMs: number;
}

/** How a signal will be executed, decided before anything is sent. */
export type Plan =
  | {
      readonly verdict: 'denied';
      readonly denial: Denial;
      /** Stored with the denial: what the order was sized on. */
      readonly evidence?: Json;
    }
  /** The outcome is already known; nothing is sent. */
  | {
      readonly verdict: 'ended';
      readonly outcome: Outcome;
      /** Stores what must be known once it has this outcome. */
      readonly store?: () => Promise<void>;
    }
  | {
      /** It depends on the position, which cannot be known now. */
      readonly verdict: 'waiting';
      readonly reason: string;
      /** It may be known in a moment. */
      readonly mayPassSoon: boolean;
      /** What it is denied by if not; absent: it keeps its place. */
      readonly orElse?: Denial;
    }
  | { readonly verdict: 'ready'; readonly action: PreparedAction };

/** A plan that need not wait. */
export type KnownPlan = Exclude<Plan, { readonly verdict: 'waiting' }>;

/** Requests that are ready to send: only the network or the exchange can still fail. */
export interface PreparedAction {
  /** Orders count against `maxOrdersPerMinute`, unless they only reduce; cancellations never do. */
  readonly isOrder: boolean;
  /** The order that is placed; absent where none is. */
  readonly order?: OrderRequest;
  /** The requests as a dry run stores them, without key, nonce or signature. */
  readonly requests: readonly Json[];
  /** Added to the note of the `sending` step: what the operator should know of the order. */
  readonly note?: string;
  /** Stored with the `sending` step, for the operator. */
  readonly evidence?: Json;
  /** Stored with the `sending` step, for all that decides by it later. */
  readonly facts?: StepFacts;
  /** When the reading of what it was sized on began. The request is not sent when that is too long ago. */
  readonly readAtMs?: number;
  /** What the account's limits of growing risk say of the order; absent for a cancellation. */
  readonly limits?: Pick<LimitVerdict, 'reduces' | 'readReduces' | 'checkTime' | 'checkOthers'>;
  /** Sends the requests and returns the outcome; failures of the exchange are outcomes too. */
  send(options: SendOptions): Promise<Outcome>;
}

/** The result of an action, as the ledger stores it. */
export interface Outcome {
  readonly status: Status;
  readonly note: string;
  /** For people: nothing decides by it. */
  readonly evidence: Json;
  readonly facts?: StepFacts;
  /** The rule that denied the signal; it is stored for people alone, in the evidence. */
  readonly deniedBy?: string;
  /** Of a sale on spot: there was nothing that it could have sold. */
  readonly nothingHeld?: true;
  readonly orderId?: number;
  readonly orderOpen?: boolean;
  /** An alarm that the operator must look into, whatever the status. */
  readonly alarm?: Alarm;
}

/** The plan with something else in its action; one that sends nothing stays as it is. */
export function changeAction(plan: Plan, change: (action: PreparedAction) => Partial<PreparedAction>): Plan {
  if (plan.verdict !== 'ready') return plan;
  return { verdict: 'ready', action: { ...plan.action, ...change(plan.action) } };
}

/** Denies a signal whose market the exchange does not list. */
export function denyUnlisted(market: string): Plan {
  return deny(
    'unknown_market',
    'a market of the exchange',
    market,
    `the exchange lists no usable market ${market}; correct the tickers in relay.config.ts`,
  );
}

export function deny(rule: string, limit: string, actual: string, message: string): Plan {
  return { verdict: 'denied', denial: { rule, limit, actual, message } };
}
