import { formatDecimal, parseDecimal } from '../base/decimal.ts';
import type { Json } from '../base/json.ts';
import type { LogFacts } from '../base/log.ts';
import type { Entry } from '../ledger/entry.ts';
import type { PauseKind } from '../ledger/ledger.ts';
import type {
  AlarmChange,
  DayChange,
  LedgerChange,
  OutcomeChange,
  PauseChange,
} from '../ledger/ledger-change.ts';
import { type OrderRecord, orderRecordOf } from '../ledger/order-record.ts';
import { currenciesInName } from '../model/market.ts';
import type { Status } from '../model/outcome.ts';
import type { Signal } from '../model/signal.ts';
import { createNews, mostDetail, type News, onceKey } from './news.ts';
import type { NoticeCategory } from './notice-settings.ts';
import { tellExecution } from './tell-execution.ts';

/**
 * What is worth telling of a change; empty when nothing is.
 *
 * @param opener the entry that an order of the change protected; absent: not known
 */
export function tellChange(change: LedgerChange, opener: Entry | null = null): readonly News[] {
  switch (change.kind) {
    case 'outcome':
      return tellOutcome(change);
    case 'execution':
      return tellExecution(change, opener);
    case 'pause':
      return [tellPause(change)];
    case 'alarm':
      return [tellAlarm(change)];
    case 'day':
      return [tellDay(change)];
  }
}

interface StatusNews {
  readonly category: NoticeCategory;
  readonly says: string;
}

/** What a status says. None claims what the exchange has not confirmed. Null: it is on its way, and nothing is told. */
const statusNews: Readonly<Record<Status, StatusNews | null>> = {
  accepted: null,
  sending: null,
  placed: { category: 'placed', says: 'accepted by the exchange' },
  cancelled: { category: 'placed', says: 'cancelled' },
  satisfied: { category: 'placed', says: 'nothing to do, no order was sent' },
  denied: { category: 'denied', says: 'DENIED, nothing was sent' },
  dry_run: { category: 'placed', says: 'rehearsed only, nothing was sent' },
  rejected: { category: 'rejected', says: 'REJECTED by the exchange' },
  not_sent: { category: 'rejected', says: 'NOT SENT' },
  unknown: { category: 'unknown', says: 'OUTCOME UNKNOWN, the relay looks it up' },
  not_placed: { category: 'rejected', says: 'there is no such order' },
  invalid: { category: 'denied', says: 'REFUSED' },
};

function tellOutcome(change: OutcomeChange): readonly News[] {
  const { entry, step } = change;
  const found = statusNews[step.status];
  // What the relay tries again and again, an alarm tells, and that once.
  if (found === null || step.facts?.isTriedAgain === true) return [];
  const { account, signalId, signal } = entry;
  const wasUnknown = step.status !== 'unknown' && entry.steps.some(({ status }) => status === 'unknown');
  const isOwn = signal?.action === 'protect';
  // The relay has asked itself, and all fits: only what became of a turned position was announced before.
  const isIdle = isOwn && step.status === 'satisfied' && signal.turnedBy === undefined;
  if (isIdle && !wasUnknown) return [];
  const category = wasUnknown ? 'unknown' : isOwn ? 'protection' : found.category;
  const what = signal === null ? `alert ${signalId.replace(/@.*$/, '')}` : describeSignal(entry, signal);
  const news = createNews({
    key: step.status === 'unknown' ? unknownKey(account, signalId) : onceKey(change),
    category,
    account,
    atMs: step.atMs,
    headline: `${what}${signal === null ? '' : ':'} ${wasUnknown ? 'now known: ' : ''}${found.says}`,
    detail: step.note,
    isSingle: step.status === 'unknown',
  });
  return [news];
}

/** The status and the alarm that was raised before it are the same news. */
function unknownKey(account: string, signalId: string): string {
  return `unknown ${account} ${signalId}`;
}

/** `buy 0.01 BTC_USDT` */
function describeSignal(entry: Entry, signal: Signal): string {
  const { market } = signal;
  if (signal.action === 'cancel' || signal.action === 'cancel_all') return `cancellation in ${market}`;
  if (signal.action === 'protect_position') return `protection of ${market}`;
  const record = orderRecordOf(entry);
  const amount = record?.amount ? `${formatDecimal(record.amount)} ` : '';
  const order = record?.side ? `${record.side} ${describeAmount(record, amount)}` : market;
  switch (signal.action) {
    case 'protect':
      return `${signal.turnedBy === undefined ? '' : 'what was turned by the '}${signal.role === 'stop_loss' ? 'stop-loss' : 'take-profit'} of ${market}`;
    case 'order':
      return order;
    default:
      return `${signal.action} of ${market}${record?.side ? ` (${record.side} ${amount.trim()})` : ''}`;
  }
}

/** `0.01 BTC_USDT`; of a buy that is sized in the quote currency `BTC_USDT for 600 USDT`: what it comes to is an estimate. */
function describeAmount({ market, spot, reported }: OrderRecord, amount: string): string {
  if (spot?.isQuoteSized !== true) return `${amount}${market}`;
  const { quote } = currenciesInName(market);
  return reported === null
    ? market
    : `${market} for ${formatDecimal(parseDecimal(reported.amount))} ${quote}`;
}

const stopped: Readonly<Record<PauseKind, string>> = {
  everything: 'no order is sent',
  entries: 'nothing is opened or enlarged',
  daily_loss: 'the loss of the day is too large, and nothing is opened or enlarged',
};

function tellPause(change: PauseChange): News {
  const { account, atMs, pause } = change;
  return createNews({
    key: onceKey(change),
    category: 'paused',
    account,
    atMs,
    headline: pause === null ? 'RESUMED: orders are sent again' : `PAUSED: ${stopped[pause.kind]}`,
    detail: pause?.reason ?? '',
    isSingle: true,
  });
}

/** The categories of the alarms that are about one of these things; every other alarm is `alarm`. */
const alarmCategories: Readonly<Record<string, NoticeCategory>> = {
  outcome_unknown: 'unknown',
  outcome_contradicted: 'unknown',
  position_unprotected: 'protection',
  protection_failed: 'protection',
  daily_loss: 'limit',
  signals_over_limit: 'limit',
};

/** These say how it stands, and change while it is the same alarm. */
const varying: ReadonlySet<string> = new Set(['account', 'note', 'reason', 'whatToDo']);

/** The same for an alarm that is raised again: its figures may differ, not what it names. */
function alarmKey({ account, name, message, facts }: AlarmChange): string {
  const named = Object.entries(facts).filter(
    ([field, fact]) => typeof fact === 'string' && !varying.has(field),
  );
  return JSON.stringify([name, account, message, named]);
}

/** They say nothing to a person, or are said elsewhere. */
const untold: ReadonlySet<string> = new Set(['account', 'tookMs', 'status', 'clientOrderId']);

function tellAlarm(change: AlarmChange): News {
  const { account, atMs, name, message, facts } = change;
  const { signalId } = facts;
  const isUnknown = name === 'outcome_unknown' && typeof signalId === 'string' && account !== null;
  return createNews({
    key: isUnknown ? unknownKey(account, signalId) : alarmKey(change),
    category: alarmCategories[name] ?? 'alarm',
    account,
    atMs,
    headline: `ALARM: ${message}`,
    detail: detailOf(facts),
    isSingle: true,
  });
}

/** A command is told whole or not at all: nobody should paste half of one. */
function detailOf({ whatToDo, ...facts }: LogFacts): string {
  const told = Object.entries(facts)
    .filter(([field, fact]) => !untold.has(field) && fact !== null && fact !== '')
    .map(([field, fact]) => `${field}: ${formatFact(fact)}`);
  if (typeof whatToDo !== 'string') return told.join('; ');
  const whole = [...told, `whatToDo: ${whatToDo}`].join('; ');
  return whole.length <= mostDetail ? whole : ['whatToDo: the log has the command', ...told].join('; ');
}

function formatFact(fact: Json): string {
  return typeof fact === 'string' ? fact : JSON.stringify(fact);
}

function tellDay(change: DayChange): News {
  const { account, atMs, lines } = change;
  return createNews({
    key: onceKey(change),
    category: 'heartbeat',
    account,
    atMs,
    headline: `The last 24 hours: ${lines[0] ?? ''}`,
    detail: lines.slice(1).join('; '),
    isSingle: true,
  });
}
