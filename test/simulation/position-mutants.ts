import { parseDecimal } from '../../lib/base/decimal.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { conditionalOrders } from '../../lib/exchange/endpoints/conditional-orders.ts';
import { openOrder } from '../../lib/exchange/endpoints/open-order.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import type { Order } from '../../lib/model/order.ts';
import { isPositionSignal, type Signal } from '../../lib/model/signal.ts';
import { override } from '../support/override.ts';
import { changeEntries } from './ledger-mutants.ts';
import { changeAccounts, changeCalls, changeCreates, changeRecords, emptyPage } from './mutate.ts';
import type { Mutant, MutationTools } from './mutation.ts';
import { isReducing } from './wanted-positions.ts';

type Client = (client: ExchangeClient, tools: MutationTools) => ExchangeClient;

/** Market orders are the only ones that position actions make. */
const kinds = ['market'] as const;

/** Sends what may only reduce a position without the flag. */
const openByClosing: Client = (client) =>
  changeCreates(client, (params) => ({ ...params, reduceOnly: undefined }));

/** Takes a first leg whose outcome is not known for one that is done. */
function presumeReduced(ledger: Ledger, { handlerName }: MutationTools): Ledger {
  if (handlerName !== 'execute') return ledger;
  const done = (entry: Entry): Entry =>
    isLeg(entry) && inFlight.has(entry.status) ? { ...entry, status: 'placed' } : entry;
  return override(ledger, {
    async read(key) {
      const entry = await ledger.read(key);
      return entry === null ? null : done(entry);
    },
    openOrders: async (account, market, limit) =>
      (await ledger.openOrders(account, market, limit)).filter((entry) => !isLeg(entry)),
  });
}

const inFlight: ReadonlySet<Entry['status']> = new Set(['sending', 'unknown']);

function isLeg({ signal }: Entry): boolean {
  return signal !== null && isPositionSignal(signal) && isReducing(signal);
}

/** Forgets the orders that the relay placed, so that a list which does not show them yet is believed. */
function forgetOwnOrders(ledger: Ledger, { handlerName }: MutationTools): Ledger {
  if (handlerName !== 'execute') return ledger;
  const isKnown = ({ status }: Entry) => status !== 'placed';
  return override(ledger, {
    async list(query) {
      const page = await ledger.list(query);
      return { ...page, entries: page.entries.filter(isKnown) };
    },
    openOrders: async (account, market, limit) =>
      (await ledger.openOrders(account, market, limit)).filter(isKnown),
  });
}

/** Executes a signal although an earlier order of its market has no outcome yet. */
function ignoreUnknown(ledger: Ledger, { handlerName }: MutationTools): Ledger {
  if (handlerName !== 'execute') return ledger;
  return override(ledger, {
    openOrders: async (account, market, limit) =>
      (await ledger.openOrders(account, market, limit)).filter(({ status }) => !inFlight.has(status)),
  });
}

/** By database: the client order ids that were sent. */
const sentIds = new WeakMap<object, Set<string>>();

/** Sends a leg again that was being sent when its worker died. */
function resumeFromSending(ledger: Ledger): Ledger {
  const misread = changeEntries(ledger, (entry) =>
    entry.status === 'sending' && entry.signal !== null && isPositionSignal(entry.signal)
      ? { ...entry, status: 'accepted' }
      : entry,
  );
  return override(misread, {
    async start(key, step, limit) {
      const started = await ledger.start(key, step, limit);
      if (started.result !== 'conflict' || started.entry.status !== 'sending') return started;
      return { result: 'started' };
    },
  });
}

/** Gives each order that is sent a second time a new client order id. */
const renameSecond: Client = (client, { file }) => {
  const sent = sentIds.get(file) ?? new Set<string>();
  sentIds.set(file, sent);
  return changeCreates(client, (params) => {
    const { clientOrderId } = params as { readonly clientOrderId: string };
    const isSecond = sent.has(clientOrderId);
    sent.add(clientOrderId);
    return isSecond ? { ...params, clientOrderId: `${clientOrderId.slice(0, -1)}-` } : params;
  });
};

/** Presumes nothing. */
function presumeNothing(entry: Entry): Entry {
  const { signal } = entry;
  if (signal?.action !== 'order' || signal.requirePosition === undefined) return entry;
  const { requirePosition: _, onMismatch: __, ...rest } = signal;
  return { ...entry, signal: rest satisfies Signal };
}

/** Finds no position anywhere, without asking. */
const seeNothing: Client = (client) =>
  changeCalls(client, (name) => (name === openPositions.name ? Promise.resolve(emptyPage) : undefined));

/** Sees the position of an account as it was when it was read first. */
const keepPositions: Client = (client) => {
  const kept = keptPositions.get(client) ?? new Map<string, unknown>();
  keptPositions.set(client, kept);
  return changeCalls(client, (name, params, ask) => {
    if (name !== openPositions.name) return undefined;
    const key = JSON.stringify(params);
    if (kept.has(key)) return ask().then(() => kept.get(key));
    return ask().then((result) => {
      kept.set(key, result);
      return result;
    });
  });
};

const keptPositions = new WeakMap<ExchangeClient, Map<string, unknown>>();

/** Sends one order that closes the position and opens the next one at once. */
const turnAtOnce: Client = (client) =>
  changeCreates(client, (params) => {
    const { reduceOnly, amount } = params as { readonly reduceOnly?: boolean; readonly amount: typeof two };
    return reduceOnly === true ? { ...params, reduceOnly: undefined, amount: amount.times(two) } : params;
  });

const two = parseDecimal('2');

/** Does not see the orders that the exchange made from a stop-loss or take-profit. */
const overlookStops: Client = (client, { handlerName }) =>
  changeCalls(client, (name, _, ask) => {
    if (handlerName !== 'execute') return undefined;
    if (name === conditionalOrders.name) return ask().then((page) => ({ ...Object(page), records: [] }));
    if (name !== openOrder.name) return undefined;
    return ask().then((page) =>
      changeRecords<Order>(page, (orders) => orders.filter(({ clientOrderId }) => clientOrderId !== '')),
    );
  });

/** Broken variants of the relay that hold another position than the one that a strategy wants. */
export const positionMutants: readonly Mutant[] = [
  {
    name: 'close-opens',
    breaks: 'the order of a close, or of a leg that reduces, is sent without reduce-only',
    seeds: 300,
    dialect: 'live',
    kinds,
    mutation: { client: openByClosing },
  },
  {
    name: 'turn-at-once',
    breaks: 'one order of twice the size closes a position and opens the next one',
    seeds: 100,
    dialect: 'live',
    kinds,
    mutation: { client: turnAtOnce },
  },
  {
    name: 'hasty-reverse',
    breaks: 'the leg that opens does not wait for the outcome of the leg that reduces',
    seeds: 300,
    fromSeed: 88,
    dialect: 'live',
    kinds,
    mutation: { ledger: presumeReduced },
  },
  {
    name: 'stale-position',
    breaks: 'a position is read once, and every later order is sized on it',
    seeds: 100,
    dialect: 'live',
    kinds,
    mutation: { client: keepPositions },
  },
  {
    name: 'lagging-position',
    breaks: 'a list of positions is believed before it shows what the relay itself has just sent',
    seeds: 300,
    fromSeed: 21,
    dialect: 'live',
    kinds,
    mutation: {
      ledger: forgetOwnOrders,
      executions: (executions, { handlerName }) =>
        handlerName === 'execute' ? override(executions, { followed: async () => [] }) : executions,
    },
  },
  {
    name: 'double-leg',
    breaks: 'a leg that was being sent when its worker died is sent again, under another identity',
    seeds: 300,
    fromSeed: 4,
    dialect: 'live',
    kinds,
    mutation: { ledger: resumeFromSending, client: renameSecond },
  },
  {
    name: 'unpresumed',
    breaks: 'requirePosition is not checked',
    seeds: 100,
    fromSeed: 116,
    dialect: 'live',
    kinds,
    mutation: {
      ledger: (ledger, { handlerName }) =>
        handlerName === 'execute' ? changeEntries(ledger, presumeNothing) : ledger,
    },
  },
  {
    name: 'unread-position',
    breaks: 'a signal is satisfied although no position was read',
    seeds: 100,
    dialect: 'live',
    kinds,
    mutation: { client: seeNothing },
  },
  {
    name: 'second-strategy',
    breaks: 'a second strategy trades the market in which another one holds a position',
    seeds: 300,
    fromSeed: 344,
    dialect: 'live',
    kinds,
    mutation: { settings: changeAccounts((account) => ({ ...account, oneStrategyPerMarket: false })) },
  },
  {
    name: 'unknown-ignored',
    breaks: 'a signal that depends on the position does not wait for an earlier order without an outcome',
    seeds: 100,
    fromSeed: 22,
    dialect: 'live',
    kinds,
    mutation: { ledger: ignoreUnknown },
  },
  {
    name: 'counted-waits',
    breaks: 'waiting for the position counts as a failed delivery',
    seeds: 300,
    fromSeed: 10,
    dialect: 'live',
    kinds,
    mutation: {
      // A write that fails leaves the delivery to its lease.
      line: (line) =>
        override(line, { postpone: (delivery) => void line.release(delivery).catch(() => undefined) }),
    },
  },
  {
    name: 'outliving-stops',
    breaks: 'the stop-loss and take-profit of a position that was closed stay open',
    seeds: 300,
    fromSeed: 28,
    dialect: 'live',
    kinds,
    mutation: { client: overlookStops },
  },
];
