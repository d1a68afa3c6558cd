import { type Decimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { fieldsOf } from '../../lib/base/json.ts';
import type { ExchangeClient, PreparedRequest, SendOptions } from '../../lib/exchange/client.ts';
import type { Endpoint, ParamsOf, ResultOf } from '../../lib/exchange/endpoint.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { openOrder } from '../../lib/exchange/endpoints/open-order.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import type { ContestedFacts } from '../../lib/ledger/account-facts.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { orderSignalOf } from '../../lib/ledger/sent-order.ts';
import type { OpenPosition } from '../../lib/model/holdings.ts';
import type { Order } from '../../lib/model/order.ts';
import { protectionNamedBy } from '../../lib/model/protect-id.ts';
import { override } from '../support/override.ts';
import { changeCalls, changeCreates, changeRecords } from './mutate.ts';
import type { Mutant, Mutation, MutationTools } from './mutation.ts';
import { handPrefix } from './own-orders.ts';
import { currentInvocation } from './process.ts';

/** Whether what runs at the moment keeps the protection of positions: following, or one of its signals. */
function isKeeping(): boolean {
  const running = currentInvocation();
  const key = running?.sender ?? running?.key;
  return running?.handlerName === 'reconcile' || isProtection(key?.signalId ?? '');
}

/** Whether an order is sent for such a signal. */
function isSendingProtection(): boolean {
  return isProtection(currentInvocation()?.sender?.signalId ?? '');
}

function isProtection(signalId: string): boolean {
  return protectionNamedBy(signalId) !== null;
}

interface CreateParams {
  readonly market: string;
  readonly side: 'buy' | 'sell';
  readonly activationPrice?: Decimal;
  readonly clientOrderId: string;
}

/** Does something before each order that protects a position. */
function beforeProtection(
  client: ExchangeClient,
  act: (params: CreateParams, options: SendOptions) => Promise<void>,
): ExchangeClient {
  return override(client, {
    prepare<E extends Endpoint>(endpoint: E, params: ParamsOf<E>): PreparedRequest<ResultOf<E>> {
      const request = client.prepare(endpoint, params);
      if (endpoint.repeatable) return request;
      return override(request, {
        async send(options = {}) {
          if (isSendingProtection()) await act(params as unknown as CreateParams, options);
          return await request.send(options);
        },
      });
    },
  });
}

/** Cancels the stop-losses that stand before it places another one. */
const leaveGap = (client: ExchangeClient) =>
  beforeProtection(client, async ({ market, side, activationPrice }, options) => {
    if (activationPrice === undefined) return;
    const { orders } = await listOpenOrders(client, market, options);
    const old = orders.filter(
      (order) =>
        order.side === side &&
        order.activationPrice !== undefined &&
        order.activated !== true &&
        !order.clientOrderId.startsWith(handPrefix),
    );
    for (const { orderId } of old) await client.call(cancelOrder, { market, orderId }, options);
  });

/** Cancels orders of the owner on the way. */
const cancelForeign = (client: ExchangeClient) =>
  beforeProtection(client, async ({ market, side }, options) => {
    const { orders } = await listOpenOrders(client, market, options);
    const foreign = orders.find((order) => order.side === side && order.clientOrderId.startsWith(handPrefix));
    if (foreign !== undefined) await client.call(cancelOrder, { market, orderId: foreign.orderId }, options);
  });

/** Changes what the list of positions says to whatever keeps their protection. */
function changePositions(
  change: (positions: readonly OpenPosition[], client: ExchangeClient) => readonly OpenPosition[],
): NonNullable<Mutation['client']> {
  return (client) =>
    changeCalls(client, (name, _, ask) => {
      if (name !== openPositions.name || !isKeeping()) return undefined;
      return ask().then((page) =>
        changeRecords<OpenPosition>(page, (positions) => change(positions, client)),
      );
    });
}

const enlarge = changePositions((positions) =>
  positions.map((position) => ({ ...position, amount: position.amount.times('2') })),
);

/** As if each position had changed just now, so that a list which lags is believed. */
const believeAtOnce = changePositions((positions) =>
  positions.map((position) => ({ ...position, modifiedAtMs: Number.MAX_SAFE_INTEGER })),
);

/** Remembers a position after it is gone. */
function keepGone({ file }: MutationTools) {
  const known = lastPositions.get(file) ?? new Map<string, OpenPosition>();
  lastPositions.set(file, known);
  return (positions: readonly OpenPosition[]) => {
    for (const position of positions) known.set(`${position.market} ${position.positionSide}`, position);
    return [...known.values()];
  };
}

/** Remembers how large each position was, as long as it has one side. */
function keepLargest({ file }: MutationTools) {
  const known = lastPositions.get(file) ?? new Map<string, OpenPosition>();
  lastPositions.set(file, known);
  return (positions: readonly OpenPosition[]) =>
    positions.map((position) => {
      const place = `${position.market} ${position.positionSide}`;
      const before = known.get(place)?.amount ?? zero;
      const isSmaller = before.times(position.amount).gt(zero) && before.abs().gt(position.amount.abs());
      const largest = isSmaller ? { ...position, amount: before } : position;
      known.set(place, largest);
      return largest;
    });
}

/** By database. */
const lastPositions = new WeakMap<object, Map<string, OpenPosition>>();

/** Every second reading shows half of each position. */
const flutter: NonNullable<Mutation['client']> = (client) => {
  let readings = 0;
  return changePositions((positions) => {
    readings += 1;
    return readings % 2 === 0
      ? positions
      : positions.map((position) => ({ ...position, amount: position.amount.div('2') }));
  })(client, undefined as never);
};

/** Changes the entries by which protection is planned. */
function changeKnown(change: (entries: readonly Entry[]) => readonly Entry[]): Mutation {
  return {
    ledger: (ledger: Ledger) =>
      override(ledger, {
        async list(query) {
          const page = await ledger.list(query);
          return isKeeping() ? { ...page, entries: change(page.entries) } : page;
        },
      }),
    executions: (executions: Executions) =>
      override(executions, {
        async followed(account, limit) {
          const entries = await executions.followed(account, limit);
          return currentInvocation()?.handlerName === 'execute' && isKeeping() ? change(entries) : entries;
        },
      }),
  };
}

const isKept = ({ signal, status }: Entry) => signal?.action === 'protect' && status === 'placed';

/** Following begins each time with the price at which the order filled. */
const forgetBest = (facts: ContestedFacts, { handlerName }: MutationTools): ContestedFacts =>
  override(facts, {
    async read(account, name) {
      const fact = await facts.read(account, name);
      if (handlerName !== 'reconcile') return fact;
      return name.startsWith('protection seen in ') && fact !== null ? { ...fieldsOf(fact), best: {} } : fact;
    },
  });

/** The take-profits of an alert are shares of the position that it found. */
const forgetGrowth = (facts: ContestedFacts): ContestedFacts =>
  override(facts, {
    async write(account, name, fact) {
      const isSight = name.startsWith('protection seen in ') && fact !== null;
      await facts.write(account, name, isSight ? { ...fieldsOf(fact), grown: {} } : fact);
    },
  });

/** What alerts asked for a whole position is not known any more when its orders are looked at. */
const forgetWishes = (facts: ContestedFacts): ContestedFacts =>
  override(facts, {
    read: async (account, name) =>
      name.startsWith('protection asked in ') ? null : await facts.read(account, name),
  });

/** The best price that was ever seen is the first one. */
const keepFirstBest = (facts: ContestedFacts): ContestedFacts =>
  override(facts, {
    async write(account, name, fact) {
      if (!name.startsWith('protection seen in ')) return await facts.write(account, name, fact);
      const before = fieldsOf(fieldsOf(await facts.read(account, name))['best'] ?? null);
      const seen = fieldsOf(fact);
      return await facts.write(account, name, {
        ...seen,
        best: { ...fieldsOf(seen['best'] ?? null), ...before },
      });
    },
  });

/** Takes what the owner has cancelled for something that the relay itself has cancelled. */
const claimCancels = (facts: ContestedFacts, { process }: MutationTools): ContestedFacts =>
  override(facts, {
    async read(account, name) {
      const fact = await facts.read(account, name);
      if (!name.startsWith('stops taken in ')) return fact;
      const ofOwner = process.stage.history.handCancels.map(({ orderId }) => orderId);
      return [...(Array.isArray(fact) ? fact : []), ...ofOwner];
    },
  });

function withWholeShares(entry: Entry): Entry {
  const { signal } = entry;
  if (signal === null || !('takeProfits' in signal) || signal.takeProfits === undefined) return entry;
  const takeProfits = signal.takeProfits.map((part) => ({ ...part, share: '100%' }));
  return { ...entry, signal: { ...signal, takeProfits } as typeof signal };
}

/** Changes entries wherever they are read, also where they are followed. */
function changeRead(change: (entry: Entry) => Entry): Mutation {
  return {
    ledger: (ledger: Ledger) =>
      override(ledger, {
        async list(query) {
          const page = await ledger.list(query);
          return { ...page, entries: page.entries.map(change) };
        },
      }),
    executions: (executions: Executions) =>
      override(executions, {
        followed: async (account, limit) => (await executions.followed(account, limit)).map(change),
      }),
  };
}

/** What a take-profit has sold counts for nothing of its share. */
function withoutShare(entry: Entry): Entry {
  if (!isKept(entry)) return entry;
  const steps = entry.steps.map((step) => {
    const protective = step.facts?.protective;
    if (protective?.ofShare === undefined) return step;
    return { ...step, facts: { ...step.facts, protective: { ...protective, ofShare: '0' } } };
  });
  return { ...entry, steps };
}

/** A stop-loss that follows the price begins one per cent further from it. */
function withFarTrail(entry: Entry): Entry {
  const asked = orderSignalOf(entry);
  if (asked?.trailing === undefined) return entry;
  const rate = parseDecimal(asked.side === 'buy' ? '0.99' : '1.01');
  const steps = entry.steps.map((step) => {
    const report = step.facts?.report;
    const stopLoss = report?.exits?.stopLoss;
    if (report === undefined || stopLoss === undefined) return step;
    const exits = { ...report.exits, stopLoss: parseDecimal(stopLoss).times(rate).toFixed() };
    return { ...step, facts: { ...step.facts, report: { ...report, exits } } };
  });
  return { ...entry, steps };
}

/** No spot buy has bought enough for a stop-loss. */
function withTooLittle(entry: Entry): Entry {
  const steps = entry.steps.map((step) => {
    const spot = step.facts?.spot;
    return spot === undefined
      ? step
      : { ...step, facts: { ...step.facts, spot: { ...spot, least: '1000000' } } };
  });
  return { ...entry, steps };
}

const misprice: NonNullable<Mutation['client']> = (client, { handlerName }) =>
  changeCalls(client, (name, _, ask) => {
    if (name !== openPositions.name || handlerName !== 'execute') return undefined;
    return ask().then((page) =>
      changeRecords<OpenPosition>(page, (positions) =>
        positions.map((position) => ({
          ...position,
          basePrice: position.basePrice?.times(parseDecimal('1.001')) ?? null,
        })),
      ),
    );
  });

/** Does not see that a stop-loss was triggered. */
const overlookTrigger: NonNullable<Mutation['client']> = (client) =>
  changeCalls(client, (name, _, ask) => {
    if (name !== openOrder.name || !isKeeping()) return undefined;
    return ask().then((page) =>
      changeRecords<Order>(page, (orders) =>
        orders.map((order) => (order.activated === true ? { ...order, activated: false } : order)),
      ),
    );
  });

/** What protects positions is a matter of many alerts: single kinds of order have no such runs. */
const shared = { dialect: 'live', kinds: [] } as const;

/** Broken variants of the relay that protect positions wrongly. */
export const guardMutants: readonly Mutant[] = [
  {
    name: 'gap-before-stop',
    breaks: 'the old stop-loss is cancelled before the new one stands',
    seeds: 300,
    fromSeed: 10,
    ...shared,
    mutation: { client: leaveGap },
  },
  {
    name: 'oversized-protection',
    breaks: 'what protects a position is planned on twice the position',
    seeds: 300,
    fromSeed: 20,
    ...shared,
    mutation: { client: enlarge },
  },
  {
    name: 'opening-protection',
    breaks: 'what protects a position is placed without reduce-only',
    seeds: 300,
    fromSeed: 4,
    ...shared,
    mutation: {
      client: (client) =>
        changeCreates(client, (params) =>
          isProtection(currentInvocation()?.key?.signalId ?? '')
            ? { ...params, reduceOnly: undefined }
            : params,
        ),
    },
  },
  {
    name: 'hasty-protection',
    breaks: 'protection is planned on a position that was read before the last act of the relay itself',
    seeds: 300,
    fromSeed: 96,
    ...shared,
    mutation: { client: believeAtOnce },
  },
  {
    name: 'overruled-owner',
    breaks: 'a stop-loss or take-profit that the owner has cancelled is placed again',
    seeds: 300,
    fromSeed: 535,
    ...shared,
    mutation: { facts: claimCancels },
  },
  {
    name: 'foreign-cancelled',
    breaks: 'an order of the owner is cancelled to protect a position',
    seeds: 300,
    fromSeed: 52,
    ...shared,
    mutation: { client: cancelForeign },
  },
  {
    name: 'outlived-position',
    breaks: 'what protected a position that is gone stays',
    seeds: 300,
    fromSeed: 25,
    ...shared,
    mutation: { client: (client, tools) => changePositions(keepGone(tools))(client, tools) },
  },
  {
    name: 'second-protection',
    breaks: 'what the relay has placed to protect a position is forgotten, and placed a second time',
    seeds: 300,
    fromSeed: 121,
    ...shared,
    mutation: { ...changeKnown((entries) => entries.filter((entry) => !isKept(entry))) },
  },
  {
    name: 'restless-protection',
    breaks: 'a position that reads differently each time moves its stop-loss each time, without a bound',
    seeds: 300,
    ...shared,
    mutation: { client: flutter },
  },
  {
    name: 'whole-shares',
    breaks: 'each of several take-profits sells all of the position',
    seeds: 300,
    fromSeed: 27,
    ...shared,
    mutation: changeKnown((entries) => entries.map(withWholeShares)),
  },
  {
    name: 'share-sold-again',
    breaks: 'a take-profit that has sold its share is placed anew',
    seeds: 300,
    fromSeed: 268,
    ...shared,
    mutation: changeRead(withoutShare),
  },
  {
    name: 'stop-moved-back',
    breaks: 'a stop-loss that follows the price is further from it once its size has changed',
    seeds: 300,
    fromSeed: 61,
    ...shared,
    mutation: changeKnown((entries) => entries.map(withFarTrail)),
  },
  {
    name: 'best-price-forgotten',
    breaks: 'a stop-loss that follows the price forgets the best one',
    seeds: 300,
    fromSeed: 499,
    ...shared,
    mutation: { facts: forgetBest },
  },
  {
    name: 'growth-forgotten',
    breaks: 'the take-profits of a position do not grow with it',
    seeds: 300,
    fromSeed: 192,
    ...shared,
    mutation: { facts: forgetGrowth },
  },
  {
    name: 'best-price-kept',
    breaks: 'a stop-loss that is to follow the price stays where it was first',
    seeds: 300,
    fromSeed: 475,
    ...shared,
    mutation: { facts: keepFirstBest },
  },
  {
    name: 'exits-not-reduced',
    breaks: 'what protects a position stays as large as it was when a part of the position is closed',
    seeds: 300,
    fromSeed: 19,
    ...shared,
    mutation: { client: (client, tools) => changePositions(keepLargest(tools))(client, tools) },
  },
  {
    name: 'spot-too-little',
    breaks: 'what a spot buy has bought counts as too little for its stop-loss',
    seeds: 300,
    fromSeed: 40,
    ...shared,
    mutation: changeRead(withTooLittle),
  },
  {
    name: 'wrong-entry-price',
    breaks: 'a stop-loss at the entry price has another price',
    seeds: 300,
    fromSeed: 414,
    ...shared,
    mutation: { client: misprice },
  },
  {
    name: 'triggered-counts',
    breaks: 'a stop-loss that was triggered and did not fill counts as protection',
    seeds: 1000,
    fromSeed: 568,
    ...shared,
    mutation: { client: overlookTrigger },
  },
  {
    name: 'silent-leftovers',
    breaks:
      'where the relay only raises alarms, nobody is told of exits that are more than what is left of their position',
    seeds: 300,
    fromSeed: 440,
    ...shared,
    mutation: {
      alarms: (alarms) =>
        override(alarms, {
          raise(alarm, facts) {
            if (alarm.name !== 'protection_failed' || facts['orderIds'] === undefined)
              alarms.raise(alarm, facts);
          },
        }),
    },
  },
  {
    name: 'forgotten-wish',
    breaks: 'what an alert asks to protect a position with is forgotten before its orders are placed',
    seeds: 300,
    fromSeed: 364,
    ...shared,
    mutation: { facts: forgetWishes },
  },
  {
    name: 'hidden-forgotten',
    breaks:
      'exits that only the list of positions shows are forgotten with their position, and nobody is told that they may stand',
    seeds: 300,
    fromSeed: 760,
    ...shared,
    mutation: {
      executions: (executions) =>
        override(executions, {
          record: (key, { attached: _, ...execution }, fills) => executions.record(key, execution, fills),
        }),
      alarms: (alarms) =>
        override(alarms, {
          raise(alarm, facts) {
            if (!alarm.message.includes('nothing has ever shown')) alarms.raise(alarm, facts);
          },
        }),
    },
  },
];
