/**
 * The ledger's state machine, written out literally: tests compare the code and the stores with it.
 *
 * First every move with its name.
 */
export const namedMoves = [
  'deny: accepted → denied',
  'rehearse: accepted → dry_run',
  'fail to prepare: accepted → not_sent',
  'withdraw: accepted → cancelled',
  'find it satisfied: accepted → satisfied',
  'start sending: accepted → sending',
  'confirm the order: sending → placed',
  'confirm the cancellation: sending → cancelled',
  'receive a rejection: sending → rejected',
  'prove it was not sent: sending → not_sent',
  'deny at the last check: sending → denied',
  'lose the response: sending → unknown',
  'find the order: unknown → placed',
  'find it cancelled: unknown → cancelled',
  'find it refused: unknown → rejected',
  'find no order: unknown → not_placed',
  'prove late that it was not sent: unknown → not_sent',
  'deny late: unknown → denied',
];

/**
 * Then every state an entry can reach, with the first of the shortest paths to
 * it. A state is a status, whether an order is open and its id known, and whether
 * a lookup is due now (`lookup due`), later, or no longer (`lookup over`).
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
  satisfied: 'accept › find it satisfied',
  'satisfied, id': 'accept › find it satisfied (with id)',
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
  'unknown, lookup due': 'accept › start › lose the response (not open)',
  'unknown, id, lookup due': 'accept › start › lose the response (not open, with id)',
  'unknown, open, lookup due': 'accept › start › lose the response',
  'unknown, open, id, lookup due': 'accept › start › lose the response (with id)',
  'unknown, lookup later': 'accept › start › lose the response (not open) › postpone the lookup',
  'unknown, id, lookup later': 'accept › start › lose the response (not open, with id) › postpone the lookup',
  'unknown, open, lookup later': 'accept › start › lose the response › postpone the lookup',
  'unknown, open, id, lookup later': 'accept › start › lose the response (with id) › postpone the lookup',
  'placed, lookup over': 'accept › start › lose the response › find the order (not open)',
  'placed, id, lookup over': 'accept › start › lose the response › find the order (not open, with id)',
  'placed, open, lookup over': 'accept › start › lose the response › find the order',
  'placed, open, id, lookup over': 'accept › start › lose the response › find the order (with id)',
  'cancelled, lookup over': 'accept › start › lose the response › find it cancelled',
  'cancelled, id, lookup over': 'accept › start › lose the response › find it cancelled (with id)',
  'rejected, lookup over': 'accept › start › lose the response › find it refused',
  'rejected, id, lookup over': 'accept › start › lose the response › find it refused (with id)',
  'not_placed, lookup over': 'accept › start › lose the response › find no order',
  'not_placed, id, lookup over': 'accept › start › lose the response › find no order (with id)',
  'not_sent, lookup over': 'accept › start › lose the response › prove late that it was not sent',
  'not_sent, id, lookup over':
    'accept › start › lose the response › prove late that it was not sent (with id)',
  'denied, lookup over': 'accept › start › lose the response › deny late',
  'denied, id, lookup over': 'accept › start › lose the response › deny late (with id)',
  invalid: 'refuse',
};
