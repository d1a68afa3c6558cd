/**
 * The statuses of a ledger entry.
 *
 * `accepted` and `sending` are in progress, `unknown` waits to be settled, all others are final.
 */
export const statuses = [
  'accepted',
  'sending',
  'placed',
  'cancelled',
  'satisfied',
  'denied',
  'dry_run',
  'rejected',
  'not_sent',
  'unknown',
  'not_placed',
  'invalid',
] as const;
export type Status = (typeof statuses)[number];

/** One legal change of an entry's status. */
export interface Transition {
  readonly name: string;
  readonly from: Status;
  readonly to: Status;
}

/** The ledger's state machine: the complete list of legal moves. Stores refuse every other move. */
export const transitions: readonly Transition[] = [
  { name: 'deny', from: 'accepted', to: 'denied' },
  { name: 'rehearse', from: 'accepted', to: 'dry_run' },
  { name: 'fail to prepare', from: 'accepted', to: 'not_sent' },
  // For an order: a cancellation withdrew it before it was sent. For a cancellation: it only withdrew waiting
  // orders.
  { name: 'withdraw', from: 'accepted', to: 'cancelled' },
  { name: 'find it satisfied', from: 'accepted', to: 'satisfied' },
  { name: 'start sending', from: 'accepted', to: 'sending' },
  { name: 'confirm the order', from: 'sending', to: 'placed' },
  { name: 'confirm the cancellation', from: 'sending', to: 'cancelled' },
  { name: 'receive a rejection', from: 'sending', to: 'rejected' },
  { name: 'prove it was not sent', from: 'sending', to: 'not_sent' },
  // Only now is it known that orders of other markets leave no room for it; nothing was sent.
  { name: 'deny at the last check', from: 'sending', to: 'denied' },
  { name: 'lose the response', from: 'sending', to: 'unknown' },
  { name: 'find the order', from: 'unknown', to: 'placed' },
  { name: 'find it cancelled', from: 'unknown', to: 'cancelled' },
  { name: 'find it refused', from: 'unknown', to: 'rejected' },
  { name: 'find no order', from: 'unknown', to: 'not_placed' },
  // By a worker that was wrongly taken for dead.
  { name: 'prove late that it was not sent', from: 'unknown', to: 'not_sent' },
  { name: 'deny late', from: 'unknown', to: 'denied' },
];

/** The statuses that can follow each status. */
export const statusTransitions = Object.fromEntries(
  statuses.map((from) => [from, transitions.filter((move) => move.from === from).map(({ to }) => to)]),
) as unknown as Readonly<Record<Status, readonly Status[]>>;

/** Whether the status can no longer change. */
export function isFinal(status: Status): boolean {
  return statusTransitions[status].length === 0;
}

/** The final statuses of an order that does not exist. */
export const withoutOrder: ReadonlySet<Status> = new Set(['denied', 'rejected', 'not_sent', 'not_placed']);

/** What each status means, in the words of the operator's tool. */
export const statusMeanings: Readonly<Record<Status, string>> = {
  accepted: 'stored and queued; not yet executed',
  sending: 'about to be, or being, sent to the exchange',
  placed: 'the exchange accepted the order',
  cancelled:
    'cancelled, or withdrawn before it was sent; for a cancel_all, orders already gone count as cancelled',
  satisfied: 'the position already was what the alert asks for; nothing was sent',
  denied: 'stopped by one of your own rules, or not executable when it was due; nothing was sent',
  dry_run:
    'the account only rehearses: its mode is dry-run, or paper without a paper exchange; nothing was sent',
  rejected: 'rejected by the exchange, or a cancellation without effect',
  not_sent: 'provably never executed by the exchange; there is nothing to clean up',
  unknown: 'sent, but no response proves the outcome; the relay is looking it up',
  not_placed: 'there is no such order; the last step says who found that, and how',
  invalid: 'the alert was refused, for the reasons given; nothing was sent',
};

/** A violation of one of the owner's rules: the rule, what it allows, and the actual value. */
export interface Denial {
  /** A stable name, for example `max_notional`. */
  readonly rule: string;
  readonly limit: string;
  readonly actual: string;
  /** One sentence with both values and what to change. */
  readonly message: string;
  /** Of a sale on spot: there was nothing that it could have sold. */
  readonly nothingHeld?: true;
}
