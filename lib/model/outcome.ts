/**
 * What can become of a signal.
 *
 * `accepted` and `sending` are on the way, `unknown` waits to be settled, the others are final.
 */
export const statuses = [
  'accepted',
  'sending',
  'placed',
  'cancelled',
  'denied',
  'dry_run',
  'rejected',
  'not_sent',
  'unknown',
  'not_placed',
  'invalid',
] as const;
export type Status = (typeof statuses)[number];

/** One legal move of an entry. */
export interface Transition {
  readonly name: string;
  readonly from: Status;
  readonly to: Status;
}

/** The ledger's state machine: every legal move, and no other. Stores refuse the rest. */
export const transitions: readonly Transition[] = [
  { name: 'deny', from: 'accepted', to: 'denied' },
  { name: 'rehearse', from: 'accepted', to: 'dry_run' },
  { name: 'fail to prepare', from: 'accepted', to: 'not_sent' },
  // An order by a later cancellation, before it was sent; a cancellation that found nothing more to do than that.
  { name: 'withdraw', from: 'accepted', to: 'cancelled' },
  { name: 'start sending', from: 'accepted', to: 'sending' },
  { name: 'hear of the order', from: 'sending', to: 'placed' },
  { name: 'hear of the cancellation', from: 'sending', to: 'cancelled' },
  { name: 'hear a refusal', from: 'sending', to: 'rejected' },
  { name: 'prove it never left', from: 'sending', to: 'not_sent' },
  { name: 'lose the response', from: 'sending', to: 'unknown' },
  { name: 'find the order', from: 'unknown', to: 'placed' },
  { name: 'find it cancelled', from: 'unknown', to: 'cancelled' },
  { name: 'find it refused', from: 'unknown', to: 'rejected' },
  { name: 'find no order', from: 'unknown', to: 'not_placed' },
  // By a worker that was taken for dead, but lived.
  { name: 'prove late that it never left', from: 'unknown', to: 'not_sent' },
];

/** From each status, where an entry can go. */
export const statusTransitions = Object.fromEntries(
  statuses.map((from) => [from, transitions.filter((move) => move.from === from).map(({ to }) => to)]),
) as unknown as Readonly<Record<Status, readonly Status[]>>;

/** Whether nothing can change this status any more. */
export function isFinal(status: Status): boolean {
  return statusTransitions[status].length === 0;
}

/** What each status tells the person who reads it. */
export const statusMeanings: Readonly<Record<Status, string>> = {
  accepted: 'stored and queued; not yet executed',
  sending: 'about to be, or being, sent to the exchange',
  placed: 'the exchange took the order',
  cancelled: 'cancelled, or withdrawn before it was sent; what a cancel_all found gone counts as done',
  denied: 'one of your own rules stopped it, or it could not be carried out in its turn; nothing was sent',
  dry_run: 'everything but the wire; nothing was sent',
  rejected: 'the exchange refused it, or it was a cancellation without effect',
  not_sent: 'it provably never became an order; nothing to clean up',
  unknown: 'sent, but the response was lost; it is being looked for',
  not_placed: 'looked up: there is no such order',
  invalid: 'refused at the door, with the reasons; nothing was sent',
};

/** One of the owner's rules, broken: which, what it allows, and what was asked. */
export interface Denial {
  /** A stable name, for example `max_notional`. */
  readonly rule: string;
  readonly limit: string;
  readonly actual: string;
  /** One sentence with both values and what to change. */
  readonly message: string;
}
