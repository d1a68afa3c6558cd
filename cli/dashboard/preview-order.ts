import type { OrderPreview } from '../../dashboard/documents.ts';
import { readAnswers } from '../../lib/account/rehearsed.ts';
import { formatDecimal } from '../../lib/base/decimal.ts';
import { RelayError } from '../../lib/base/errors.ts';
import { toJson } from '../../lib/base/json.ts';
import { ticker as tickerEndpoint } from '../../lib/exchange/endpoints/ticker.ts';
import { withoutWrites } from '../../lib/ledger/account-facts.ts';
import type { MarketCopies } from '../../lib/ledger/market-copies.ts';
import { type Account, findRehearsalReason } from '../../lib/model/account.ts';
import { tradedMarkets } from '../../lib/model/settings.ts';
import type { Signal } from '../../lib/model/signal.ts';
import type { PreparedAction } from '../../lib/relay/execute/action.ts';
import { readLastPrice } from '../../lib/relay/execute/judge-trigger.ts';
import { createMarketCatalogue, type MarketCatalogue } from '../../lib/relay/execute/market-catalogue.ts';
import { planOrder } from '../../lib/relay/execute/plan-order.ts';
import type { ExecuteServices } from '../../lib/relay/services.ts';
import { CommandFailure } from '../failure.ts';
import { timeoutMs } from '../session/exchange.ts';
import type { Session } from '../session/session.ts';
import { describeSignal } from '../show/describe-signal.ts';
import { type Foreseen, foreseeAnswer } from './foresee-answer.ts';

const silence = { info: () => undefined, warn: () => undefined, error: () => undefined };
const noCopies: MarketCopies = { load: async () => null, save: async () => undefined };
const catalogues = new WeakMap<Session, MarketCatalogue>();

/** Nothing here writes: what a plan would store is dropped. */
async function openServices(session: Session): Promise<ExecuteServices> {
  const { clock, settings } = session;
  const [facts, executions, ledger] = [session.openFacts(), session.openExecutions(), session.openLedger()];
  return {
    clock,
    settings,
    ledger,
    log: silence,
    alarms: { raise: () => undefined },
    entrance: { accept: failToWrite },
    executions: {
      followed: executions.followed.bind(executions),
      record: failToWrite,
      recordOthers: async () => undefined,
      listFills: executions.listFills.bind(executions),
      keptFromMs: executions.keptFromMs.bind(executions),
    },
    facts: withoutWrites(facts),
    markets: await openCatalogue(session),
    isPaperExchange: session.locateExchange().kind === 'paper',
    exchangeTimeoutMs: 2 * timeoutMs,
    exchangeFor: (name) => session.openExchange(session.settings.accounts[name] ?? null),
  };
}

function failToWrite(): never {
  throw new CommandFailure('unexpected', 'a preview must not write', 'Report it as a bug.');
}

async function openCatalogue(session: Session): Promise<MarketCatalogue> {
  const known = catalogues.get(session);
  if (known !== undefined) return known;
  const { clock, settings } = session;
  const client = await session.openExchange(null);
  const catalogue = createMarketCatalogue({
    client,
    clock,
    log: silence,
    copies: noCopies,
    traded: tradedMarkets(settings),
    timeoutMs,
  });
  catalogues.set(session, catalogue);
  return catalogue;
}

/** Says what a signal would become if it were due now. Sends and stores nothing. */
export async function previewSignal(
  session: Session,
  account: Account,
  signal: Signal,
): Promise<OrderPreview> {
  const shown = { says: describeSignal(signal), market: signal.market, requests: [], sizedOn: null };
  if (signal.action !== 'order') return { ...shown, verdict: 'later', note: laterNote(signal) };
  try {
    const services = await openServices(session);
    const plan = await planOrder(services, account, signal, 'preview');
    if (plan.verdict === 'denied') return { ...shown, verdict: 'denied', note: plan.denial.message };
    if (plan.verdict !== 'ready') return { ...shown, verdict: 'later', note: laterNote(signal) };
    const { requests, note, evidence = null } = plan.action;
    const foreseen = await foresee(services, account, plan.action);
    const rehearsal = findRehearsalReason(account.mode, services.isPaperExchange);
    const isRefused = foreseen?.isRefused === true;
    const said = rehearsal === null ? 'This would be sent now' : `Nothing would be sent: ${rehearsal}`;
    const expected = isRefused ? `the exchange would refuse it: ${foreseen.note}` : foreseen?.note;
    return {
      ...shown,
      verdict: isRefused ? 'refused' : 'ready',
      note: [said, note, expected].filter((part) => part !== undefined).join('; '),
      requests: requests.map(toJson),
      sizedOn: evidence,
    };
  } catch (error) {
    if (!(error instanceof RelayError || error instanceof CommandFailure)) throw error;
    return { ...shown, verdict: 'later', note: `The exchange cannot be asked now: ${error.message}` };
  }
}

/** What the exchange would say of the prices of an order. */
async function foresee(
  services: ExecuteServices,
  { name, markets }: Account,
  { order }: PreparedAction,
): Promise<Foreseen | null> {
  if (order === undefined) return null;
  const client = await services.exchangeFor(name);
  const lastPrice = await readLastPrice(client, order.market, { timeoutMs });
  const ground = markets[order.market]?.tradesOn;
  const answers = ground === undefined ? null : await readAnswers(services.facts, name, ground);
  return foreseeAnswer(order, lastPrice, answers?.triggersBySide === true);
}

function laterNote({ action }: Signal): string {
  if (action === 'cancel' || action === 'cancel_all') return 'It cancels what is open when it is due';
  if (action === 'protect' || action === 'protect_position')
    return 'Its orders follow from the position when it is due';
  return 'Its order follows from the position when it is due: one at most for each leg';
}

/** The last price of a market; null when nobody knows it. */
export async function readShownPrice(session: Session, market: string): Promise<string | null> {
  try {
    const client = await session.openExchange(null);
    const price = (await client.call(tickerEndpoint, {}, { timeoutMs }))[market];
    return price === undefined ? null : formatDecimal(price);
  } catch (error) {
    if (error instanceof RelayError || error instanceof CommandFailure) return null;
    throw error;
  }
}
