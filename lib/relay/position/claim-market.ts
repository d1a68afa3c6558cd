import { type Decimal, zero } from '../../base/decimal.ts';
import { describeSafely } from '../../base/describe-error.ts';
import { type Json, toJson } from '../../base/json.ts';
import { ifRead } from '../../exchange/errors.ts';
import { findOrder } from '../../exchange/find-order.ts';
import type { FactName } from '../../ledger/account-facts.ts';
import type { Entry } from '../../ledger/entry.ts';
import { mostBelieved } from '../../ledger/ledger.ts';
import { type Account, findRehearsalReason } from '../../model/account.ts';
import { placeOf } from '../../model/holdings.ts';
import { isMarkedReducing } from '../../model/order.ts';
import { type Denial, withoutOrder } from '../../model/outcome.ts';
import { type OrderSignal, type PositionSignal, wantsNoPosition } from '../../model/signal.ts';
import { changeAction, type Outcome, type Plan } from '../execute/action.ts';
import type { ExecuteServices } from '../services.ts';
import {
  type Claimant,
  claimsMarket,
  denyAnother,
  isOfAnother,
  type MarketOwner,
  mayOpenFor,
  readOwner,
} from './one-strategy.ts';
import { type DatedOpening, isOpenedByOthers } from './opened-by-others.ts';

type OrderedSignal = OrderSignal | PositionSignal;

/**
 * The strategy that trades a market, as far as it is stored; null also when nobody could own it.
 *
 * @see DECISIONS 153
 */
export async function readMarketOwner(
  { facts }: ExecuteServices,
  account: Account,
  signal: Claimant,
): Promise<MarketOwner | null> {
  if (signal.strategy === undefined || account.oneStrategyPerMarket === false) return null;
  return readOwner(await facts.read(account.name, ownerFact(signal)));
}

/**
 * Whether the rule does not hold for it: nobody may be locked into a position. What closes one only to make room for an order
 * is a part of that order.
 */
export function passesClaim(signal: OrderedSignal): boolean {
  if (signal.action === 'close') return signal.unless === undefined;
  return signal.action === 'order' && isMarkedReducing(signal);
}

/** In hedge mode a market has two positions, and each has its strategy. */
function ownerFact(signal: Claimant): FactName {
  const side = placeOf(signal).side;
  return side === null ? `strategy of ${signal.market}` : `strategy of ${signal.market} ${side}`;
}

/** What the rule of one strategy a market says of a signal. */
export type MarketClaim =
  | { readonly ok: false; readonly denial: Denial }
  /** `on` makes the order of a plan take the market. */
  | { readonly ok: true; on(plan: Plan): Plan };

const noClaim: MarketClaim = { ok: true, on: (plan) => plan };

/**
 * Whether the strategy of the signal may trade the market.
 *
 * @throws RelayError `store_unavailable`
 */
export async function claimMarket(
  services: ExecuteServices,
  account: Account,
  signal: OrderedSignal,
  position: DatedOpening,
): Promise<MarketClaim> {
  if (passesClaim(signal)) return noClaim;
  const owner = await readMarketOwner(services, account, signal);
  const { strategy } = signal;
  if (strategy === undefined || !claimsMarket(signal, account, owner)) return noClaim;
  const denial = await denyTaken(services, account, signal, owner, position);
  if (denial !== null) return { ok: false, denial };
  if (owner?.strategy === strategy || findRehearsalReason(account.mode, services.isPaperExchange) !== null)
    return noClaim;
  return { ok: true, on: (plan) => takeWithOrder(services, account.name, signal, plan) };
}

/**
 * Denies a strategy the market of another one, or a change of what protects its position, unless somebody else has opened that.
 *
 * @throws RelayError `store_unavailable`
 */
export async function denyTaken(
  services: ExecuteServices,
  account: Account,
  signal: Claimant,
  owner: MarketOwner | null,
  position: DatedOpening,
): Promise<Denial | null> {
  if (!isOfAnother(signal, owner)) return null;
  const { amount } = position;
  const entry = await findEntryOf(services, account, signal, owner, amount);
  const denial = denyAnother(signal, owner, amount, entry);
  if (denial === null || (await isOpenedByOthers(services, account, signal, owner, position))) return null;
  return denial;
}

/** An open order with which the owner of the market may open a position; looked for only where none is held. */
async function findEntryOf(
  services: ExecuteServices,
  account: Account,
  signal: Claimant,
  owner: MarketOwner,
  held: Decimal,
): Promise<Entry | null> {
  if (!held.eq(zero) || wantsNoPosition(signal)) return null;
  const open = await services.ledger.openOrders(account.name, signal.market, mostBelieved);
  for (const entry of open)
    if (entry.orderOpen && mayOpenFor(entry, owner, signal) && !(await hasEnded(services, entry)))
      return entry;
  return null;
}

/** The ledger knows the end of an order only once it has been followed, up to a minute later. */
async function hasEnded(
  services: ExecuteServices,
  { account, clientOrderId, signal }: Entry,
): Promise<boolean> {
  if (signal === null || clientOrderId === null) return false;
  const client = await services.exchangeFor(account);
  const name = { market: signal.market, clientOrderId };
  const place = await ifRead(findOrder(client, name, { timeoutMs: services.exchangeTimeoutMs / 2 }));
  return place?.kind === 'found' && !place.isOpen;
}

/** The market is taken right before the order is sent, and given back when there is no order. */
function takeWithOrder(
  { facts, clock }: ExecuteServices,
  account: string,
  signal: OrderedSignal,
  plan: Plan,
): Plan {
  const fact = ownerFact(signal);
  return changeAction(plan, (action) => ({
    async send(options) {
      let before: Json;
      try {
        before = await facts.read(account, fact);
        const owner: MarketOwner = { strategy: signal.strategy ?? '', sinceMs: clock.nowMs() };
        await facts.write(account, fact, toJson(owner));
      } catch (error) {
        return untakenOutcome(error);
      }
      const outcome = await action.send(options);
      // A market that stays taken for nothing is free again once its position is flat.
      if (withoutOrder.has(outcome.status)) await facts.write(account, fact, before).catch(() => undefined);
      return outcome;
    },
  }));
}

function untakenOutcome(error: unknown): Outcome {
  return {
    status: 'not_sent',
    note: `nothing was sent: the market could not be taken for the strategy (${describeSafely(error)})`,
    evidence: null,
  };
}
