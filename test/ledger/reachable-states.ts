/**
 * The ledger's state machine, written out by hand: what the stores are held to, so that a change of either shows.
 *
 * First every move, by its name.
 */
export const namedMoves = [
  'deny: accepted → denied',
  'rehearse: accepted → dry_run',
  'fail to prepare: accepted → not_sent',
  'withdraw: accepted → cancelled',
  'start sending: accepted → sending',
  'confirm the order: sending → placed',
  'confirm the cancellation: sending → cancelled',
  'receive a rejection: sending → rejected',
  'prove it was not sent: sending → not_sent',
  'lose the response: sending → unknown',
  'find the order: unknown → placed',
  'find it cancelled: unknown → cancelled',
  'find it refused: unknown → rejected',
  'find no order: unknown → not_placed',
  'prove late that it was not sent: unknown → not_sent',
];

/**
 * Then every state an entry can reach, with the first of the shortest ways to it. A state is a status; whether an
 * order is open and its id known; and whether a look for it is due now or later, or is no longer due (`looked for`).
 */
export const reachableStates: Readonly<Record<string, string>> = {
  'accepted, waiting': 'accept',
  denied: 'accept › deny',
  'denied, id': 'accept › deny (with id)',
  dry_run: 'accept › rehearse',
  'dry_run, id': 'accept › rehearse (with id)',
  not_sent: 'accept › fail to prepare',
  'not_sent, id': 'accept › fail to prepare (with id)',
  cancelled: 'accept › withdraw',
  'cancelled, id': 'accept › withdraw (with id)',
  sending: 'accept › start sending',
  'sending, id': 'accept › start sending (with id)',
  'sending, open': 'accept › start',
  'sending, open, id': 'accept › start sending (open, with id)',
  placed: 'accept › start › confirm the order (not open)',
  'placed, id': 'accept › start › confirm the order (not open, with id)',
  'placed, open': 'accept › start › confirm the order',
  'placed, open, id': 'accept › start › confirm the order (with id)',
  rejected: 'accept › start › receive a rejection',
  'rejected, id': 'accept › start › receive a rejection (with id)',
  'unknown, look due': 'accept › start › lose the response (not open)',
  'unknown, id, look due': 'accept › start › lose the response (not open, with id)',
  'unknown, open, look due': 'accept › start › lose the response',
  'unknown, open, id, look due': 'accept › start › lose the response (with id)',
  'unknown, look to come': 'accept › start › lose the response (not open) › postpone the look',
  'unknown, id, look to come': 'accept › start › lose the response (not open, with id) › postpone the look',
  'unknown, open, look to come': 'accept › start › lose the response › postpone the look',
  'unknown, open, id, look to come': 'accept › start › lose the response (with id) › postpone the look',
  'placed, looked for': 'accept › start › lose the response › find the order (not open)',
  'placed, id, looked for': 'accept › start › lose the response › find the order (not open, with id)',
  'placed, open, looked for': 'accept › start › lose the response › find the order',
  'placed, open, id, looked for': 'accept › start › lose the response › find the order (with id)',
  'cancelled, looked for': 'accept › start › lose the response › find it cancelled',
  'cancelled, id, looked for': 'accept › start › lose the response › find it cancelled (with id)',
  'rejected, looked for': 'accept › start › lose the response › find it refused',
  'rejected, id, looked for': 'accept › start › lose the response › find it refused (with id)',
  'not_placed, looked for': 'accept › start › lose the response › find no order',
  'not_placed, id, looked for': 'accept › start › lose the response › find no order (with id)',
  'not_sent, looked for': 'accept › start › lose the response › prove late that it was not sent',
  'not_sent, id, looked for':
    'accept › start › lose the response › prove late that it was not sent (with id)',
  invalid: 'refuse',
};
