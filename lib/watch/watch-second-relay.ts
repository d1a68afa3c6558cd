import type { Alarms } from '../base/alarms.ts';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/describe-error.ts';
import { RelayError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { ExchangeClient } from '../exchange/client.ts';
import { farthestBackMs, longestLagMs } from '../exchange/lag.ts';
import { listEndedOrders } from '../exchange/list-account.ts';
import { listOpenOrders } from '../exchange/list-open-orders.ts';
import type { AccountFacts } from '../ledger/account-facts.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { isClientOrderId } from '../signals/identity.ts';

export interface SecondRelayServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly alarms: Alarms;
  readonly ledger: Pick<Ledger, 'findOrder' | 'list' | 'readPause' | 'writePause'>;
  readonly facts: AccountFacts;
  /** Those of the client order ids that the ledger has, of whichever account. */
  readonly findNamed: (clientOrderIds: readonly string[]) => ReadonlySet<string>;
  readonly exchangeFor: (account: string) => Promise<ExchangeClient>;
  /** The accounts that send orders. */
  readonly accounts: readonly string[];
  readonly timeoutMs: number;
}

/**
 * Finds out by what the exchange shows whether another relay trades on the same accounts: one that was started on a copy of
 * the data folder, or that goes on while this one was started from an older copy. Each would send what the other one has
 * sent, and close what the other one holds.
 */
export interface SecondRelayWatch {
  /** Looks at each account once. */
  look(): Promise<void>;
  /** The accounts that were not looked at since the start: nothing may be sent for them yet. */
  listHeld(): readonly string[];
  /** @throws RelayError `position_awaited` while the account is held */
  awaitLook(account: string): void;
}

interface ListedName {
  readonly market: string;
  readonly orderId: number;
  readonly clientOrderId: string;
}

/** Clocks of two machines differ, and an order is named before it is listed. */
const marginMs = longestLagMs + 60_000;
/** Of each account so many orders are remembered as told. */
const mostTold = 1_000;
const mostNamed = 5;

export function createSecondRelayWatch(services: SecondRelayServices): SecondRelayWatch {
  const { clock, log, accounts } = services;
  const lookedAtMs = new Map<string, number>();

  async function lookAt(account: string): Promise<void> {
    const nowMs = clock.nowMs();
    const sinceMs = lookedAtMs.get(account) ?? (await findNewestMs(services, account));
    const strangers = await findStrangers(services, account, sinceMs);
    if (strangers.length > 0) await stopAll(services, account, strangers);
    // Only now, so that nothing is sent between the look and the pause.
    lookedAtMs.set(account, nowMs);
  }

  return {
    async look() {
      for (const account of accounts)
        await lookAt(account).catch((error: unknown) =>
          log.warn('it could not be seen whether another relay trades on this account', {
            account,
            reason: describeError(error),
          }),
        );
    },
    listHeld: () => accounts.filter((account) => !lookedAtMs.has(account)),
    awaitLook(account) {
      if (accounts.includes(account) && !lookedAtMs.has(account))
        throw new RelayError(
          'position_awaited',
          `it is not known yet whether another relay trades on account ${account}: the exchange could not be read`,
        );
    },
  };
}

/** When the newest signal of the account was stored; null for a ledger without any. */
async function findNewestMs({ ledger }: SecondRelayServices, account: string): Promise<number | null> {
  const [newest] = (await ledger.list({ account, limit: 1 })).entries;
  return newest?.createdAtMs ?? null;
}

/**
 * Orders with a name as relays give it that this ledger does not have, and that were not told before.
 *
 * @param sinceMs of the orders that have ended, those since then; null: none of them, since a new ledger knows no past
 */
async function findStrangers(
  services: SecondRelayServices,
  account: string,
  sinceMs: number | null,
): Promise<readonly ListedName[]> {
  const { clock, ledger, facts, exchangeFor, findNamed, timeoutMs } = services;
  const client = await exchangeFor(account);
  const options = { timeoutMs };
  const open = await listOpenOrders(client, null, options);
  const fromMs = sinceMs === null ? null : Math.max(sinceMs - marginMs, clock.nowMs() - farthestBackMs);
  const ended = fromMs === null ? [] : await listEndedOrders(client, fromMs, options);
  const told = new Set(readTold(await facts.read(account, 'foreign orders')));
  const named = new Map<string, ListedName>();
  for (const order of [...open.orders, ...ended])
    if (isClientOrderId(order.clientOrderId) && !told.has(order.clientOrderId))
      named.set(order.clientOrderId, order);
  const byOrderId = await Promise.all(
    [...named.values()].map(async (order) => ({
      order,
      isKnown: (await ledger.findOrder(account, order.market, order.orderId)) !== null,
    })),
  );
  // Few are left: those whose response has not come yet, and those of another account with the same key.
  const left = byOrderId.flatMap(({ order, isKnown }) => (isKnown ? [] : [order]));
  const known = left.length === 0 ? new Set<string>() : findNamed(left.map((order) => order.clientOrderId));
  return left.filter(({ clientOrderId }) => !known.has(clientOrderId));
}

/** The copy is of the whole ledger, so every account stops. */
async function stopAll(
  { clock, alarms, ledger, facts, accounts }: SecondRelayServices,
  account: string,
  strangers: readonly ListedName[],
): Promise<void> {
  const [first] = strangers;
  const reason = `the exchange has ${strangers.length} order(s) of another relay on account ${account}, such as order ${first?.orderId} in ${first?.market}`;
  for (const name of accounts)
    if ((await ledger.readPause(name))?.kind !== 'everything')
      await ledger.writePause(name, { sinceMs: clock.nowMs(), reason, kind: 'everything' });
  alarms.raise(
    {
      name: 'second_relay',
      message:
        'the exchange has orders of a relay that this ledger does not know: another relay trades on this account, or this folder is an older copy. All accounts are paused: stop one of the two, compare `npx relay orders` and `npx relay positions` with the ledger, then `npx relay resume`',
    },
    {
      account,
      orders: strangers
        .slice(0, mostNamed)
        .map(({ market, orderId }) => `${orderId} in ${market}`)
        .join(', '),
      count: strangers.length,
    },
  );
  const before = readTold(await facts.read(account, 'foreign orders'));
  const told = [...before, ...strangers.map(({ clientOrderId }) => clientOrderId)];
  // After the pause: a crash in between pauses once more, and never once too few.
  await facts.write(account, 'foreign orders', told.slice(-mostTold));
}

function readTold(fact: unknown): readonly string[] {
  return Array.isArray(fact) ? fact.filter((name) => typeof name === 'string') : [];
}
