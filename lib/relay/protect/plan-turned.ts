import {
  adoptedNews,
  closingNews,
  findAdopter,
  findTurned,
  openNews,
  pausedNews,
  settledAfterMs,
  type TracedFill,
  type TurnedPosition,
  turnedWithinMs,
} from '../../account/find-turned.ts';
import { listRecent, readPosition } from '../../account/read-position.ts';
import { describeAmount } from '../../account/seen-position.ts';
import { type Decimal, floorToStep, formatDecimal, zero } from '../../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { executedHistory } from '../../exchange/endpoints/executed-history.ts';
import { isWholePage } from '../../exchange/listed.ts';
import type { Entry } from '../../ledger/entry.ts';
import { listFills } from '../../ledger/executions.ts';
import { protectiveSignal } from '../../ledger/protective-signal.ts';
import { createTeller } from '../../ledger/tell-once.ts';
import { checkPause } from '../../limits/check-order.ts';
import type { Account } from '../../model/account.ts';
import { isOfExit } from '../../model/execution.ts';
import { closingSideOf } from '../../model/holdings.ts';
import type { Market } from '../../model/market.ts';
import { triedAgain } from '../../model/step-facts.ts';
import { marketOrder } from '../../protection/protective-order.ts';
import { findUnread, lookedAtFromMs } from '../../watch/unread-time.ts';
import { parseWatch } from '../../watch/watch-state.ts';
import type { Plan } from '../execute/action.ts';
import { planOrder } from '../execute/plan-order.ts';
import { checkPositions } from '../position/check-positions.ts';
import type { ExecuteServices } from '../services.ts';
import { denialOutcome } from '../settle/settle-entry.ts';
import { isOverActRate, tooManyActs } from './act-rate.ts';
import type { ProtectEntry } from './plan-protect.ts';

/** What the closing of a turned position is decided by. */
interface Turn {
  readonly services: ExecuteServices;
  readonly account: Account;
  readonly entry: ProtectEntry;
  readonly market: Market;
  /** Signed, in base units. */
  readonly held: Decimal;
  readonly readAtMs: number;
  readonly turned: TurnedPosition;
}

/**
 * Decides what closes the part of a position that an exit has opened beyond what it was to close: one order at most, which
 * only reduces and is at most that part, from the position, the deals and the ledger as they are now.
 *
 * @see DECISIONS 166
 * @throws ExchangeError when the exchange cannot be read; RelayError `store_unavailable`
 */
export async function planTurned(
  services: ExecuteServices,
  account: Account,
  entry: ProtectEntry,
): Promise<Plan> {
  const { signal, signalId } = entry;
  const ground = await checkPositions(services, account, signal);
  if (!ground.ok) return ground.plan;
  const { market, client } = ground;
  if (account.protection !== 'keep') return satisfied('the account keeps no protection any more');
  const limits = { timeoutMs: services.exchangeTimeoutMs / 2 };
  const query = {
    account: account.name,
    market: market.name,
    signalId,
    positionSide: signal.positionSide,
    // Of two corrections the second must see what the first one did, also while its outcome is unknown.
    guard: signal,
  };
  const reading = await readPosition(services, client, query, limits);
  if (reading.kind === 'waits') return { ...reading, verdict: 'waiting' };
  if (reading.kind === 'denied') return { verdict: 'denied', denial: reading.denial };
  const { openedAtMs, modifiedAtMs, readAtMs } = reading;
  const { amount: held, side } = reading.position;
  if (held.eq(zero) || side !== null) return satisfied(`the position is ${describeAmount(held)}`);
  // A deal that no list shows yet may be the owner's, who wants this position.
  if (modifiedAtMs === null || readAtMs - modifiedAtMs <= settledAfterMs)
    return waiting(
      'the list of deals may not show yet what changed the position last',
      modifiedAtMs !== null,
    );
  const fills = await readFills(services, client, { account: account.name, market: market.name }, limits);
  if (fills === null) return waiting('the deals of the market cannot be read whole', false);
  const position = {
    market: market.name,
    amount: held,
    positionSide: 'BOTH',
    openedAtMs,
    modifiedAtMs,
  } as const;
  const turned = findTurned(position, fills);
  if (turned === null) return satisfied('nothing is left of what an exit has opened');
  const { entries } = await listRecent(services, account.name, market.name);
  const adopter = findAdopter(turned, entries);
  if (adopter !== null) {
    await createTeller(services).tell(
      account.name,
      adoptedNews({ turned, held, account: account.name }, adopter, true),
    );
    return satisfied(`signal "${adopter}" has asked for the position, or for what protects it, since`);
  }
  return await planClosing({ services, account, entry, market, held, readAtMs, turned }, entries);
}

function satisfied(note: string): Plan {
  return {
    verdict: 'ended',
    outcome: { status: 'satisfied', note: `nothing was sent: ${note}`, evidence: null },
  };
}

function waiting(reason: string, mayPassSoon: boolean): Plan {
  return { verdict: 'waiting', reason, mayPassSoon };
}

/** More deals than this of a market within the time that is looked at: the oldest are not among them, and prove nothing. */
const mostDeals = 500;

/**
 * The deals of the market, as the exchange lists them now. Which of them are of exits, the ledger knows.
 *
 * @returns oldest first; null when a record of them cannot be read
 */
async function readFills(
  { clock, executions, facts }: Pick<ExecuteServices, 'clock' | 'executions' | 'facts'>,
  client: ExchangeClient,
  { account, market }: { readonly account: string; readonly market: string },
  limits: SendOptions,
): Promise<readonly TracedFill[] | null> {
  const nowMs = clock.nowMs();
  const before = parseWatch(await facts.read(account, 'positions'));
  const fromMs = lookedAtFromMs(await findUnread(facts, account, before, nowMs), nowMs);
  const untilMs = nowMs + turnedWithinMs;
  const exits = new Map<number, Pick<TracedFill, 'role' | 'signalId'>>();
  const onSpot = new Set<number>();
  for await (const { orderId, ...fill } of listFills(executions, account, fromMs, untilMs)) {
    if (isOfExit(fill) && fill.market === market) exits.set(orderId, fill);
    if (fill.onSpot === true) onSpot.add(orderId);
  }
  if (exits.size === 0) return [];
  const page = await client.call(executedHistory, { market, limit: mostDeals }, limits);
  if (!isWholePage(page, market)) return null;
  return page.records
    .filter(({ atMs, orderId = 0 }) => atMs >= fromMs && !onSpot.has(orderId))
    .toSorted((one, other) => one.atMs - other.atMs || one.id - other.id)
    .map(({ id: dealId, orderId = 0, atMs, side, amount }) => {
      const { role, signalId } = exits.get(orderId) ?? { role: 'other', signalId: '' };
      return { market, dealId, orderId, atMs, side, amount: formatDecimal(amount), role, signalId };
    });
}

async function planClosing(turn: Turn, entries: readonly Entry[]): Promise<Plan> {
  const { services, account, entry, market, held, readAtMs, turned } = turn;
  const pause = await services.ledger.readPause(account.name);
  const denial = pause?.kind === 'everything' ? checkPause(pause) : null;
  if (denial !== null) {
    await createTeller(services).tell(account.name, pausedNews(newsOf(turn)));
    return { verdict: 'ended', outcome: { ...denialOutcome(denial), facts: triedAgain } };
  }
  const amount = floorToStep(turned.surplus, market.amountStep);
  if (amount.lt(market.minAmount) || !amount.gt(zero))
    return await fail(turn, `${formatDecimal(turned.surplus)} is too little for an order`);
  if (!account.allowUnguardedMarket && account.maxSlippageRate === null)
    return await fail(turn, `account ${account.name} allows no order at market: give it a maxSlippage`);
  if (await isOverActRate(services, account.name, market.name, entries)) return await fail(turn, tooManyActs);
  const order = marketOrder({ side: closingSideOf(held), amount, positionSide: undefined });
  const asked = protectiveSignal(entry.signal, order);
  const plan = await planOrder(services, account, asked, entry.clientOrderId ?? '', 'reduces');
  if (plan.verdict === 'denied') return await fail(turn, plan.denial.message);
  if (plan.verdict !== 'ready') return plan;
  // Told before it is sent: a relay that is killed now has told it.
  await createTeller(services).tell(account.name, closingNews(newsOf(turn), amount));
  const { action } = plan;
  return {
    verdict: 'ready',
    action: {
      ...action,
      // Nothing may keep open what nobody asked for.
      isOrder: false,
      facts: { ...action.facts, position: { amount: formatDecimal(held) }, protective: order },
      readAtMs: Math.min(readAtMs, action.readAtMs ?? readAtMs),
      async send(options) {
        const outcome = await action.send(options);
        if (outcome.status === 'placed' || outcome.status === 'unknown') return outcome;
        await tellOpen(turn, outcome.note);
        return { ...outcome, facts: { ...outcome.facts, ...triedAgain } };
      },
    },
  };
}

/** Nothing is sent, and the owner is told once. */
async function fail(turn: Turn, reason: string): Promise<Plan> {
  await tellOpen(turn, reason);
  return {
    verdict: 'ended',
    outcome: { status: 'not_sent', note: `nothing was sent: ${reason}`, evidence: null, facts: triedAgain },
  };
}

async function tellOpen(turn: Turn, reason: string): Promise<void> {
  await createTeller(turn.services).tell(turn.account.name, openNews(newsOf(turn), reason));
}

function newsOf({ turned, held, account }: Turn) {
  return { turned, held, account: account.name };
}
