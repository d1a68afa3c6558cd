import type { Entry, EntryKey } from '../../lib/ledger/entry.ts';
import type { Ledger, Move } from '../../lib/ledger/ledger.ts';
import { type Status, statuses, type Transition, transitions } from '../../lib/model/outcome.ts';
import { acceptOne } from '../support/accept-one.ts';
import { orderEntry } from './ledger-contract.ts';

const noonMs = 1_767_268_800_000;
const laterMs = noonMs + 60_000;
const foreverMs = noonMs + 365 * 86_400_000;

/** An operation on an entry; `from`: the only status in which it has an effect, null: any. */
interface Operation {
  readonly name: string;
  readonly from: Status | null;
  run(ledger: Ledger, key: EntryKey): Promise<unknown>;
}

/** Every combination of the order facts of a move. */
const orderFacts = [{}, { orderOpen: true }, { orderOpen: false }].flatMap((open) => [
  open,
  { ...open, orderId: 5 },
]);

function nameOf({ name }: Transition, { orderOpen, orderId }: Pick<Move, 'orderOpen' | 'orderId'>): string {
  const facts = [
    ...(orderOpen === undefined ? [] : [orderOpen ? 'open' : 'not open']),
    ...(orderId === undefined ? [] : ['with id']),
  ];
  return facts.length === 0 ? name : `${name} (${facts.join(', ')})`;
}

const operations: readonly Operation[] = [
  {
    name: 'accept',
    from: null,
    run: (ledger, key) => acceptOne(ledger, orderEntry(key.signalId, key), null),
  },
  { name: 'refuse', from: null, run: (ledger, key) => ledger.refuse(refusalOf(key)) },
  { name: 'start', from: null, run: (ledger, key) => ledger.start(key, stepTo('sending'), null) },
  { name: 'close the order', from: null, run: (ledger, key) => ledger.closeOrder(key) },
  { name: 'postpone the lookup', from: null, run: postpone },
  ...transitions.flatMap((transition) =>
    orderFacts.map((facts) => ({
      name: nameOf(transition, facts),
      from: transition.from,
      run: (ledger: Ledger, key: EntryKey) => ledger.move(key, { ...moveBy(transition), ...facts }),
    })),
  ),
];

function refusalOf(key: EntryKey) {
  return { ...key, fingerprint: 'f', step: stepTo('invalid') };
}

export function stepTo(status: Status, note = 'a step') {
  return { status, atMs: noonMs, note };
}

export function moveBy({ from, to }: Pick<Transition, 'from' | 'to'>, note?: string): Move {
  return { from, step: stepTo(to, note) };
}

async function postpone(ledger: Ledger, key: EntryKey): Promise<void> {
  const { lookup } = await readEntry(ledger, key);
  if (lookup !== null)
    await ledger.postpone(key, lookup, { ...lookup, count: lookup.count + 1, dueAtMs: laterMs });
}

export async function readEntry(ledger: Ledger, key: EntryKey): Promise<Entry> {
  const entry = await ledger.read(key);
  if (entry === null) throw new Error(`${key.account} has no entry`);
  return entry;
}

/** The accounts whose entry is due at the given time. */
async function accountsDue(ledger: Ledger, nowMs: number): Promise<ReadonlySet<string>> {
  const due = await ledger.dueLookups(nowMs, 10_000);
  return new Set(due.map(({ account }) => account));
}

/** The states of entries, as far as the state machine is concerned. */
async function describeStates(ledger: Ledger, keys: readonly EntryKey[]): Promise<readonly string[]> {
  const [dueNow, dueEver] = [await accountsDue(ledger, noonMs), await accountsDue(ledger, foreverMs)];
  const entries = await Promise.all(keys.map((key) => ledger.read(key)));
  const waiting = await Promise.all(keys.map(({ account }) => ledger.waiting(account, 'BTC_USDT', 10)));
  return entries.map((entry, index) => {
    if (entry === null) return 'nothing';
    const account = keys[index]?.account ?? '';
    return [
      entry.status,
      ...(waiting[index] ?? []).map(() => 'waiting'),
      ...(entry.orderOpen ? ['open'] : []),
      ...(entry.orderId === null ? [] : ['id']),
      ...describeLookup(entry, dueNow.has(account), dueEver.has(account)),
    ].join(', ');
  });
}

function describeLookup({ lookup }: Entry, isDueNow: boolean, isDueEver: boolean): readonly string[] {
  if (isDueEver) return [isDueNow ? 'lookup due' : 'lookup later'];
  return lookup === null ? [] : ['lookup over'];
}

let accounts = 0;

/** Every entry has its own account, so that no limit counts two entries. */
function createKey(): EntryKey {
  accounts += 1;
  return { account: `account-${accounts}`, signalId: 'a' };
}

/** @param path names of operations, joined by ` › `; operations may end in a conflict */
export async function enact(ledger: Ledger, path: string): Promise<EntryKey> {
  const key = createKey();
  for (const name of path.split(' › ')) {
    const operation = operations.find((candidate) => candidate.name === name);
    if (operation === undefined) throw new Error(`there is no operation "${name}"`);
    await operation.run(ledger, key);
  }
  return key;
}

/** Every state that operations lead to, with the first of its shortest paths. */
export async function findReachable(ledger: Ledger): Promise<Readonly<Record<string, string>>> {
  const found = new Map<string, string>();
  let paths = ['accept', 'refuse'];
  while (paths.length > 0) {
    const keys = await Promise.all(paths.map((path) => enact(ledger, path)));
    const states = await describeStates(ledger, keys);
    const fresh = states.filter((state, index) => {
      if (found.has(state)) return false;
      found.set(state, paths[index] ?? '');
      return true;
    });
    paths = fresh.flatMap((state) => nextPaths(state, found.get(state) ?? ''));
  }
  return Object.fromEntries(found);
}

/** Leaves out moves from another status: a separate test proves for every state that they have no effect. */
function nextPaths(state: string, path: string): readonly string[] {
  return operations
    .filter(({ from }) => from === null || from === statusOf(state))
    .map(({ name }) => `${path} › ${name}`);
}

export function statusOf(state: string): Status {
  const status = statuses.find((candidate) => candidate === state.split(', ')[0]);
  if (status === undefined) throw new Error(`"${state}" begins with no status`);
  return status;
}
