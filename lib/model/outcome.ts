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

/** The ledger's state machine: every legal move, and no other. Stores refuse the rest. */
export const statusTransitions: Readonly<Record<Status, readonly Status[]>> = {
  accepted: ['sending', 'denied', 'dry_run', 'not_sent'],
  sending: ['placed', 'cancelled', 'rejected', 'not_sent', 'unknown'],
  unknown: ['placed', 'cancelled', 'rejected', 'not_placed'],
  placed: [],
  cancelled: [],
  denied: [],
  dry_run: [],
  rejected: [],
  not_sent: [],
  not_placed: [],
  invalid: [],
};

/** Whether nothing can change this status any more. */
export function isFinal(status: Status): boolean {
  return statusTransitions[status].length === 0;
}

/** What each status tells the person who reads it. */
export const statusMeanings: Readonly<Record<Status, string>> = {
  accepted: 'stored and queued; not yet executed',
  sending: 'about to be, or being, sent to the exchange',
  placed: 'the exchange holds the order',
  cancelled: 'cancelled; what a cancel_all found gone already counts as done',
  denied: 'one of your own rules stopped it; nothing was sent',
  dry_run: 'everything but the wire; nothing was sent',
  rejected: 'the exchange refused it; nothing came of it',
  not_sent: 'it provably never became an order; nothing to clean up',
  unknown: 'sent, but the answer was lost; look before you act',
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
