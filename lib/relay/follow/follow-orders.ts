import {
  dealsFromMs,
  findDealsState,
  noteRead,
  readDealsState,
  storeOthers,
} from '../../account/account-deals.ts';
import type { DealSource } from '../../account/deal-places.ts';
import { endedExitsIn } from '../../account/exit-claims.ts';
import { hasPassed } from '../../base/clock.ts';
import { describeSafely } from '../../base/describe-error.ts';
import { RelayError } from '../../base/errors.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { findOrder } from '../../exchange/find-order.ts';
import { longestOrderLagMs } from '../../exchange/lag.ts';
import { mostFollowed } from '../../ledger/executions.ts';
import { listRecords } from '../../ledger/order-record.ts';
import { orderSignalOf } from '../../ledger/sent-order.ts';
import { createTeller, type Teller } from '../../ledger/tell-once.ts';
import { type Account, findRehearsalReason } from '../../model/account.ts';
import { fillNameOf, orderOf } from '../../model/execution.ts';
import { findAccount } from '../../model/settings.ts';
import { readLastPrices } from '../execute/judge-trigger.ts';
import { resumeCloses } from '../position/close-rest.ts';
import { forgetAskedPlaces, readAskedPlaces } from '../protect/asked-places.ts';
import { keepProtection } from '../protect/keep-protection.ts';
import { noteSold } from '../protect/sold-shares.ts';
import { tellTooLarge } from '../protect/tell-too-large.ts';
import { tellUnstopped } from '../protect/tell-unstopped.ts';
import { claimExits } from './claim-exits.ts';
import { endHiddenExits } from './end-hidden-exits.ts';
import { endSpentSales } from './end-spent-sales.ts';
import {
  type AccountIndex,
  AccountMemory,
  type AccountReading,
  findOrderId,
  indexReading,
  listUnnamed,
  type OrderPlaceName,
  orderKeyOf,
} from './follow-memory.ts';
import { watchProtection } from './follow-protection.ts';
import type { FollowServices } from './follow-services.ts';
import { FollowedEntry } from './followed-entry.ts';
import type { KnownOrder } from './followed-order.ts';
import { findUnfollowed, keepOpeners, keepSpotSales } from './keep-in-sight.ts';
import { tellOversold, tellSurplus } from './tell-surplus.ts';

/** Follows placed orders until they and the exits that the exchange made from them have ended. */
export interface Follower {
  /**
   * Reads what became of the followed orders of every account, and stores what has changed. An account without followed
   * orders, and without a position that an alert asked to protect, causes no request. A failure of the exchange is logged and does not stop the other accounts.
   *
   * @param notAfterMs no request starts later
   * @throws RelayError `store_unavailable`
   */
  run(notAfterMs: number): Promise<void>;
}

/** The most orders that one run asks for alone. The next run asks for the next ones. */
const mostAsked = 10;
/** The pause before an order is asked for alone again; it doubles with each try. */
const firstPauseMs = 3_000;
const longestPauseMs = 5 * 60_000;

/**
 * @returns a follower that remembers what it has read, which saves requests
 *
 * @see DECISIONS 146
 */
export function createFollower(services: FollowServices): Follower {
  const memories = new Map<string, AccountMemory>();
  const teller = createTeller(services);
  return {
    async run(notAfterMs) {
      const runs = Object.keys(services.settings.accounts).map(async (account) => {
        const memory = memories.get(account) ?? new AccountMemory();
        memories.set(account, memory);
        await followSafely({ ...services, teller }, account, memory, notAfterMs);
      });
      const failed = (await Promise.allSettled(runs)).find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
    },
  };
}

interface TellingServices extends FollowServices {
  readonly teller: Teller;
}

const firstFailurePauseMs = 5_000;
const longestFailurePauseMs = 60_000;

/** After a failure the account is left alone for a while: a key that is missing stays so for longer than a second. */
async function followSafely(
  services: TellingServices,
  account: string,
  memory: AccountMemory,
  notAfterMs: number,
): Promise<void> {
  const nowMs = services.clock.nowMs();
  const { untilMs, lengthMs } = memory.pause;
  // A pause that ends later than any can was made before the clock was set back.
  if (nowMs < untilMs && untilMs - nowMs <= longestFailurePauseMs) return;
  try {
    await followAccount(services, account, memory, notAfterMs);
    memory.pause = { untilMs: 0, lengthMs: 0 };
    memory.failing = null;
  } catch (error) {
    if (error instanceof RelayError && error.code === 'store_unavailable') throw error;
    const pauseMs = Math.min(Math.max(firstFailurePauseMs, lengthMs * 2), longestFailurePauseMs);
    memory.pause = { untilMs: nowMs + pauseMs, lengthMs: pauseMs };
    services.log.warn('placed orders could not be followed; the relay tries again', {
      account,
      reason: describeSafely(error),
      againInMs: pauseMs,
    });
    noteFailure(services, account, memory, { nowMs, error });
  }
}

/** While nothing can be read, a stop-loss that is missing is not seen: after a time that is an alarm of its own. */
function noteFailure(
  { settings, alarms }: FollowServices,
  account: string,
  memory: AccountMemory,
  { nowMs, error }: { readonly nowMs: number; readonly error: unknown },
): void {
  const everyMs = settings.unknownAlarmAfterMs;
  const { sinceMs: beforeMs = nowMs, alarmedAtMs = null } = memory.failing ?? {};
  // A time in the future was noted before the clock was set back.
  const sinceMs = Math.min(beforeMs, nowMs);
  const isNews = alarmedAtMs === null || hasPassed(alarmedAtMs, everyMs, nowMs);
  // A key that cannot be read does not come back by itself, as a list does.
  const isKeyUnread = error instanceof RelayError && error.code === 'secrets_missing';
  const isDue = (isKeyUnread || nowMs - sinceMs >= everyMs) && isNews;
  memory.failing = { sinceMs, alarmedAtMs: isDue ? nowMs : alarmedAtMs };
  if (!isDue) return;
  const message =
    'placed orders are followed and cannot be read: nobody sees whether a stop-loss is missing; check orders and positions on the website of the exchange, and the connection and the key with `npx relay doctor`';
  alarms.raise({ name: 'orders_unread', message }, { account, sinceMs, reason: describeSafely(error) });
}

async function followAccount(
  services: TellingServices,
  account: string,
  memory: AccountMemory,
  notAfterMs: number,
): Promise<void> {
  const { clock, executions, exchangeTimeoutMs: timeoutMs } = services;
  const entries = (await executions.followed(account, mostFollowed)).flatMap((entry) => {
    const signal = orderSignalOf(entry);
    // A damaged entry does not tell what it asked for.
    return signal === null ? [] : [{ entry, signal }];
  });
  const trading = findTrading(services, account);
  const keeper = trading?.protection === 'keep' ? trading : null;
  const places = keeper === null ? [] : await readAskedPlaces(services.facts, account);
  if (entries.length === 0 && places.length === 0) {
    memory.keepOnly([]);
    return;
  }
  const client = await services.exchangeFor(account);
  if (client.dialect !== 'live') return;
  const options: SendOptions = { timeoutMs, notAfterMs };
  const nowMs = clock.nowMs();
  const configured = findAccount(services.settings, account);
  memory.dealsState ??=
    configured === null
      ? await readDealsState(services.facts, account)
      : await findDealsState(services, configured, { client, options });
  const reading = await memory.read(
    client,
    entries.map(({ entry }) => entry),
    { nowMs, dealsFromMs: memory.dealsState === null ? nowMs : dealsFromMs(memory.dealsState, nowMs) },
    options,
  );
  const known = entries.map(({ entry }) => entry);
  const { lostProtection } = services;
  // What is done is decided with them: the next turn reads everything again.
  if (((await lostProtection?.adopt(account, { ...reading, entries: known })) ?? 0) > 0) {
    memory.readAgain();
    return;
  }
  const ended = new Set(entries.flatMap(({ entry }) => endedExitsIn(entry)));
  const followed = entries.map(({ entry, signal }) => {
    const { orderId, clientOrderId } = entry;
    const known =
      orderId ?? orderOf(entry.execution, 'order')?.orderId ?? findOrderId(reading, clientOrderId);
    const one = new FollowedEntry(entry, signal, known);
    if (ended.has(entry.signalId)) one.watched = { exitsEnded: true };
    return one;
  });
  const index = indexReading(reading);
  for (const one of followed) one.takeAttached((name) => isDealtUnlisted(index, name, nowMs));
  for (const one of followed) for (const name of one.names) memory.take(index, name, nowMs);
  for (const one of followed) one.judge(memory, nowMs);
  claimExits(followed, memory, listUnnamed(reading), (name) => memory.take(index, name, nowMs), nowMs);
  await askForUnexplained(client, followed, memory, nowMs, options);
  for (const one of followed) one.judge(memory, nowMs);
  await tellSurplus(services, services.teller, account, followed, memory, nowMs);
  const tells = trading !== null && keeper === null;
  const { teller } = services;
  const watch = { services, teller, account, client, options, keeps: keeper !== null, tells, places };
  const watched = await watchProtection(watch, followed, memory, reading, nowMs);
  // What protects an entry belongs to its story as long as that is followed.
  const going = new Set(followed.filter(({ isDone }) => !isDone).map(({ entry }) => entry.signalId));
  for (const one of followed)
    if (one.entry.signal?.action === 'protect' && going.has(one.entry.signal.of)) one.isDone = false;
  const unfollowed = await findUnfollowed(services, account, followed);
  keepSpotSales(followed, unfollowed, nowMs);
  if (keeper !== null) keepOpeners(followed, unfollowed, places);
  const current = followed.map((one) => one.currentAt(nowMs));
  await tellOversold(teller, account, listRecords(current), nowMs);
  await noteSold(
    services.facts,
    account,
    current.filter(({ execution }) => execution?.isFollowed === false),
  );
  // Before it is stored that their orders have ended: they are not followed any more after that.
  const pending = trading === null ? new Set<string>() : await resumeCloses(services, known);
  for (const one of followed) if (pending.has(one.entry.signalId)) one.isDone = false;
  if (trading !== null && watched !== null)
    await endHiddenExits(watch, { ...reading, ...watched, entries: current, followed }, memory);
  await recordAll(services, followed, memory, nowMs);
  if (keeper !== null) await endSpentSales(services, teller, account, current, memory.spentSales);
  const shown = watched === null ? null : { ...reading, ...watched, entries: current, places };
  if (tells && shown !== null) await tellTooLarge(services, teller, account, shown, memory.tooLargeSinceMs);
  if (keeper !== null && shown !== null) {
    let prices: ReturnType<typeof readLastPrices> | undefined;
    const kept = await keepProtection(services, keeper, shown, memory.protection, async (market) => {
      prices ??= readLastPrices(client, options);
      return (await prices)(market);
    });
    await tellUnstopped(services, teller, account, kept, memory.unstoppedSinceMs);
    await forgetAskedPlaces(services.facts, account, shown, memory.placesGoneSinceMs);
  }
  await storeUnfollowed(services, account, followed, memory, reading, nowMs, { client, options });
  memory.keepOnly(followed.filter(({ isDone }) => !isDone).flatMap(({ names }) => names));
}

/** Whether fills of an order are listed, and the order itself is not although it must be by now. */
function isDealtUnlisted({ open, ended, deals }: AccountIndex, name: OrderPlaceName, nowMs: number): boolean {
  const key = orderKeyOf(name);
  const isListed = open.has(key) || ended.has(key);
  return !isListed && deals.get(key)?.some(({ atMs }) => hasPassed(atMs, longestOrderLagMs, nowMs)) === true;
}

/** The account, if its orders are real; null for one that only rehearses them, or is not configured any more. */
function findTrading({ settings, isPaperExchange }: FollowServices, name: string): Account | null {
  const account = findAccount(settings, name);
  return account !== null && findRehearsalReason(account.mode, isPaperExchange) === null ? account : null;
}

/** Stores the deals of the reading that are of no followed order. Those of signals come first: theirs are known by then. */
async function storeUnfollowed(
  services: TellingServices,
  account: string,
  followed: readonly FollowedEntry[],
  memory: AccountMemory,
  { deals, ended, open }: AccountReading,
  nowMs: number,
  source: DealSource,
): Promise<void> {
  const state = memory.dealsState;
  if (state === null) return;
  const ofFollowed = new Set(
    followed.flatMap((one) => one.names.map(({ market, orderId }) => `${market} ${orderId}`)),
  );
  const unknown = deals.filter(
    ({ market, orderId, id }) =>
      !ofFollowed.has(`${market} ${orderId}`) &&
      !memory.settledDeals.has(fillNameOf({ market, orderId, dealId: id })),
  );
  const stored = await storeOthers(services, account, state, unknown, {
    ...source,
    asksAlone: true,
    listed: [...ended, ...open],
  });
  const names = deals.map(({ id, ...deal }) => fillNameOf({ ...deal, dealId: id }));
  memory.settledDeals = new Set(names.filter((name) => !stored.open.has(name)));
  if (!stored.isWhole) return memory.readAgain();
  memory.dealsState = await noteRead(services, account, state, nowMs);
}

/** Asks alone for orders that the lists leave unexplained, those first that have been so for longest. */
async function askForUnexplained(
  client: ExchangeClient,
  followed: readonly FollowedEntry[],
  memory: AccountMemory,
  nowMs: number,
  options: SendOptions,
): Promise<void> {
  const due = followed
    .flatMap((one) => one.unexplained.map((name) => ({ name, known: memory.knownOf(name) })))
    .filter(({ known }) => isDue(known, nowMs))
    .sort((one, other) => (one.known.unexplainedSinceMs ?? 0) - (other.known.unexplainedSinceMs ?? 0));
  const nameless = followed.filter(({ names }) => names.length === 0).slice(0, mostAsked);
  try {
    for (const { name } of due.slice(0, mostAsked)) await memory.ask(client, name, nowMs, options);
    for (const one of nameless) await findName(client, one, memory, nowMs, options);
  } catch (error) {
    // What the lists of the account have told is stored in any case; the next run asks again.
    if (!(error instanceof ExchangeError)) throw error;
  }
}

function isDue({ askedAtMs, tries }: KnownOrder, nowMs: number): boolean {
  return askedAtMs === null || hasPassed(askedAtMs, pauseAfter(tries), nowMs);
}

function pauseAfter(tries: number): number {
  return tries === 0 ? 0 : Math.min(firstPauseMs * 2 ** (tries - 1), longestPauseMs);
}

/** Looks for an order whose id no response has told. */
async function findName(
  client: ExchangeClient,
  one: FollowedEntry,
  memory: AccountMemory,
  nowMs: number,
  options: SendOptions,
): Promise<void> {
  const { market, clientOrderId } = one;
  if (clientOrderId === null) return;
  const place = await findOrder(client, { market, clientOrderId }, options);
  const orderId =
    place.kind === 'found' ? place.order.orderId : place.kind === 'filled' ? place.orderId : null;
  if (orderId === null) return;
  one.setOrderId(orderId);
  await memory.ask(client, { market, orderId }, nowMs, options);
}

/** A buy on spot ends only after it is stored beside each sale what that sold of it. */
async function recordAll(
  services: FollowServices,
  followed: readonly FollowedEntry[],
  memory: AccountMemory,
  nowMs: number,
): Promise<void> {
  const unstored = new Set<string>();
  for (const one of followed.filter(({ isSpotSale }) => isSpotSale))
    if (!(await record(services, one, memory, nowMs))) unstored.add(one.market);
  for (const one of followed.filter(({ isSpotSale }) => !isSpotSale)) {
    if (one.isSpot && unstored.has(one.market)) one.isDone = false;
    await record(services, one, memory, nowMs);
  }
}

/** @returns false when another process was faster: the next run reads what that wrote */
async function record(
  { executions }: FollowServices,
  one: FollowedEntry,
  memory: AccountMemory,
  nowMs: number,
): Promise<boolean> {
  const change = one.changeAt(memory, nowMs);
  if (change === null) return true;
  const { execution, fills } = change;
  if (!(await executions.record(one.entry, execution, fills))) return false;
  one.noteStored(memory, fills);
  // Not before it is stored: a claim that is lost with its write must be possible again.
  if (one.isDone) for (const { orderId } of one.names) memory.claimed.add(orderId);
  return true;
}
