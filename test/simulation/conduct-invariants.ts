import type { Entry, Step } from '../../lib/ledger/entry.ts';
import { clockToleranceMs, limitWindowMs } from '../../lib/ledger/ledger.ts';
import { isFinal, type Status, statusTransitions } from '../../lib/model/outcome.ts';
import { placesOrder, wantsNothingOpen } from '../../lib/model/signal.ts';
import { fingerprintOf } from '../../lib/signals/identity.ts';
import { saysItReduces } from '../../lib/signals/may-open.ts';
import { lastFreshMs } from '../../lib/signals/staleness.ts';
import { findWrongAlarms } from './alarm-invariants.ts';
import { bodyMarker } from './alerts.ts';
import { mayNotRest } from './bound-invariants.ts';
import { type History, isCreate, isTrade, keyText, type WireSend } from './history.ts';
import type { Facts, InvariantName, Violation } from './invariants.ts';
import { slowestStepMs } from './process.ts';
import { settings } from './simulated-world.ts';

/** Finds what the relay did against its own rules during the run. */
export function findUnlawfulConduct(facts: Facts): readonly Violation[] {
  const { history, entries } = facts;
  // The operator's tool may cancel at any time, and a lookup may end what must not rest. An order may only be sent by
  // executing a signal.
  const sends = history.sends.filter(
    ({ path, invocation }) =>
      isTrade(path) && (!mayCancel.has(invocation?.handlerName ?? '') || isCreate(path)),
  );
  return [
    ...findResends(facts),
    ...findOvertaking(facts, sends),
    ...sends.flatMap((send) => findUntimelySend(facts, send)),
    ...findLeaks(facts),
    ...[...history.failures, ...unnamedFailures(history)].map((text) => broken('I47', text)),
    ...[...history.statuses].flatMap(([key, seen]) => findIllegalMoves(key, seen)),
    ...entries.flatMap((entry) => findIllegalMoves(keyText(entry), entry.steps)),
    ...Object.values(facts.settings.accounts).flatMap(({ name, maxOrdersPerMinute }) =>
      findHaste(history, name, maxOrdersPerMinute, entries),
    ),
    ...findForgeries(facts),
    ...findWrongAlarms(facts),
  ];
}

const mayCancel: ReadonlySet<string> = new Set(['resolve', 'reconcile']);

function broken(invariant: InvariantName, text: string): Violation {
  return { invariant, harm: 'other', text };
}

/**
 * Finds orders that were sent more than once. Another attempt is allowed after the exchange refused the key, and without
 * the flag "immediate or cancel" after the exchange refused that flag.
 */
function findResends({ history }: Facts): readonly Violation[] {
  const bySignal = Map.groupBy(history.sends, ({ key }) => keysOf(key)[0]);
  return [...bySignal].flatMap(([key, sends]) => {
    const creates = sends.filter(({ path }) => isCreate(path));
    const isRash = creates.slice(0, -1).some((create, index) => {
      const next = creates[index + 1] ?? create;
      return !(isKeyRefused(create) || (isIocRefused(create) && !asksForIoc(next)));
    });
    const text = `the order of ${key} was sent ${creates.length} times, and could have been accepted before the last`;
    return isRash ? [{ invariant: 'I1', harm: 'duplicated', text }] : [];
  });
}

function isStatus({ outcome }: WireSend, status: number): boolean {
  return outcome?.kind === 'answered' && outcome.status === status;
}

function isKeyRefused(send: WireSend): boolean {
  const isRefused = isStatus(send, 401) || isStatus(send, 403);
  return isRefused && send.outcome?.kind === 'answered' && send.outcome.body.startsWith('{');
}

/** Whether the exchange proved that it placed nothing because of the flag. */
function isIocRefused(send: WireSend): boolean {
  const { outcome } = send;
  if (!asksForIoc(send) || outcome?.kind !== 'answered' || outcome.status !== 422) return false;
  const { errors = {} } = JSON.parse(outcome.body) as { readonly errors?: object };
  return 'ioc' in errors;
}

function asksForIoc({ body }: WireSend): boolean {
  return (JSON.parse(body) as { readonly ioc?: boolean }).ioc === true;
}

function findOvertaking({ history, entries }: Facts, sends: readonly WireSend[]): readonly Violation[] {
  const placeOf = (key: string) => history.stored.get(key) ?? 0;
  const groups = new Map(
    entries.map((entry) => [keyText(entry), `${entry.account} ${entry.signal?.market}`]),
  );
  const firstKeys = [...new Set(sends.flatMap(({ key }) => keysOf(key)))];
  const byGroup = Map.groupBy(
    // The place of a signal whose process died right after the flush is not known.
    firstKeys.filter((key) => history.stored.has(key) && !history.outOfTurn.has(key)),
    (key) => groups.get(key),
  );
  return [...byGroup.values()].flatMap((keys) =>
    keys.flatMap((key, index) => {
      const before = keys[index - 1];
      const isOvertaken = before !== undefined && placeOf(before) > placeOf(key);
      return isOvertaken ? [broken('I4', `${before} was sent before ${key}, which was stored first`)] : [];
    }),
  );
}

function keysOf(key: Parameters<typeof keyText>[0] | null): readonly string[] {
  return key === null ? [] : [keyText(key)];
}

/** The longest time between reading the pause and writing `sending`: a reading is used for a second. */
const pauseSlackMs = slowestStepMs + 1100;

function findUntimelySend(facts: Facts, send: WireSend): readonly Violation[] {
  const { history, entries } = facts;
  const { key } = send;
  const entry = key === null ? undefined : entries.find((known) => keyText(known) === keyText(key));
  if (entry === undefined || entry.signal === null)
    return [broken('I5', `${send.path} was sent for no signal of the ledger`)];
  // What must not rest is ended however late it is.
  // So are the stops that would outlive a position which is closed.
  const endsRest = placesOrder(entry.signal) && !isCreate(send.path);
  // And an order that protects a position takes the place of another one, and a sale on spot that of stop-losses.
  const isLawful = entry.signal.action === 'protect' || mayNotRest(entry) || isSpotSale(facts, entry);
  if (endsRest && !isLawful && !isOfEndedClose(facts, send))
    return [broken('I5', `${send.path} was sent for ${keyText(entry)}, an order that may rest`)];
  const arrival = { receivedAtMs: entry.createdAtMs, defaultMaxLagMs: settings.defaultMaxLagMs };
  const lateMs = send.relayNowMs - lastFreshMs(entry.signal, arrival);
  return [
    ...(lateMs > 0 && !endsRest
      ? [broken('I5', `${keyText(entry)} was sent ${lateMs} ms after it became stale`)]
      : []),
    // Cancellations are sent during a pause, too.
    ...(isCreate(send.path) ? findSendsInPause(history, send, entry) : []),
  ];
}

/** A second worker may not see at once that a whole close has its outcome: it still cancels what was stored before that. */
const closedSinceMs = 10_000;

function isOfEndedClose({ history, entries }: Facts, send: WireSend): boolean {
  const { clientOrderId, orderId } = JSON.parse(send.body) as { clientOrderId?: string; orderId?: number };
  const target = entries.find(
    (one) =>
      one.account === send.key?.account && (one.clientOrderId === clientOrderId || one.orderId === orderId),
  );
  const placeOf = (one: Entry) => history.stored.get(keyText(one)) ?? Number.NaN;
  return entries.some((close) => {
    const { account, signal } = close;
    if (target === undefined || signal === null || !wantsNothingOpen(signal)) return false;
    const ended = history.statuses.get(keyText(close))?.find(({ status }) => isFinal(status));
    return (
      account === target.account &&
      signal.market === target.signal?.market &&
      placeOf(target) < placeOf(close) &&
      ended !== undefined &&
      send.atMs - ended.atMs < closedSinceMs
    );
  });
}

function isSpotSale({ settings: own }: Facts, { account, signal }: Entry): boolean {
  const tradesOn = own.accounts[account]?.markets[signal?.market ?? '']?.tradesOn;
  return tradesOn === 'spot' && signal?.action === 'order' && signal.side === 'sell';
}

function findSendsInPause(history: History, send: WireSend, entry: Entry): readonly Violation[] {
  const startedAtMs = send.invocation?.startedAtMs ?? 0;
  const sendingAtMs =
    history.statuses.get(keyText(entry))?.find(({ status }) => status === 'sending')?.atMs ?? send.atMs;
  return history.pauses
    .filter(({ account, fromMs, untilMs }) => {
      const isBegunInPause = startedAtMs > fromMs && send.atMs < untilMs;
      const isPausedForLong = sendingAtMs > fromMs + pauseSlackMs && sendingAtMs < untilMs;
      return account === entry.account && (isBegunInPause || isPausedForLong);
    })
    .map(() => broken('I5', `${keyText(entry)} was sent while its account was paused`));
}

/**
 * Keys, secrets and tokens, signatures (128 hex digits), signed payloads (base64 of a body), and the marker
 * of a body.
 */
const confidential = new RegExp(
  `paper-key|paper-secret|first-token-of|second-token-of|never-valid|${bodyMarker}|[0-9a-f]{128}|eyJyZXF1ZXN0`,
);

function findLeaks({ history, entries, secrets }: Facts): readonly Violation[] {
  const texts = [
    ...history.logs.map((line) => ({ where: 'a log line', text: JSON.stringify(line) })),
    ...history.responses.map(({ alert, body }) => ({ where: `the response to ${alert.name}`, text: body })),
    ...entries.map((entry) => ({
      where: `the steps of ${keyText(entry)}`,
      text: JSON.stringify([entry.steps, entry.lookup]),
    })),
  ];
  return [
    ...texts
      .filter(({ text }) => confidential.test(text))
      .map(({ where, text }) => broken('I6', `${where} contains "${confidential.exec(text)?.[0] ?? ''}"`)),
    ...entries.flatMap((entry) => findStoredSecret(entry, secrets)),
  ];
}

/** What was logged and tried again. */
function unnamedFailures({ logs }: History): readonly string[] {
  const texts = logs.map((line) => JSON.stringify(line));
  return texts.filter((text) => /"[^"]*\bunexpected (?:\w*Error|failure)\b/.test(text));
}

/** A signal is stored unchanged, with its comment, so it must not contain a secret. */
function findStoredSecret(entry: Entry, secrets: readonly string[]): readonly Violation[] {
  const kept = JSON.stringify([entry.signalId, entry.signal]);
  const found = secrets.find((secret) => kept.includes(secret));
  return found === undefined ? [] : [broken('I6', `${keyText(entry)} is stored with "${found}" in it`)];
}

function findIllegalMoves(key: string, seen: readonly Pick<Step, 'status'>[]): readonly Violation[] {
  const statuses = seen.map(({ status }) => status);
  return statuses
    .filter((status, index) => !isLegal(statuses[index - 1], status))
    .map((status) => broken('I7', `${key} became ${status} on the way ${statuses.join(' → ')}`));
}

function isLegal(from: Status | undefined, to: Status): boolean {
  return from === undefined ? to === 'accepted' || to === 'invalid' : statusTransitions[from].includes(to);
}

/**
 * Finds orders that were sent although the account had sent as many as it allows within the 60 seconds before, by the
 * times in the ledger. What lies too far ahead of such a time was written before the clock was set back.
 */
function findHaste(
  history: History,
  account: string,
  most: number | null,
  entries: readonly Entry[],
): readonly Violation[] {
  if (most === null) return [];
  const sentAt = (entry: Entry) =>
    history.statuses.get(keyText(entry))?.find(({ status }) => status === 'sending')?.atMs ?? 0;
  // An order that reduces the position by its size alone is sent as one that only reduces.
  const reducing = new Set(
    history.sends.flatMap(({ path, body, key }) =>
      key !== null && isCreate(path) && JSON.parse(body).reduceOnly === true ? keyText(key) : [],
    ),
  );
  const isCounted = (entry: Entry) => !countsNowhere(entry) && !reducing.has(keyText(entry));
  const timesMs = entries
    .filter((entry) => entry.account === account && entry.clientOrderId !== null && isCounted(entry))
    .sort((a, b) => sentAt(a) - sentAt(b))
    .flatMap(({ steps }) => steps.filter(({ status }) => status === 'sending').map(({ atMs }) => atMs));
  const countBefore = (atMs: number, index: number) =>
    timesMs
      .slice(0, index)
      .filter((earlierMs) => earlierMs > atMs - limitWindowMs && earlierMs <= atMs + clockToleranceMs).length;
  return timesMs
    .filter((atMs, index) => countBefore(atMs, index) >= most)
    .map(() => broken('I8', `${account} sent more than ${most} orders within a minute`));
}

/** What protects a position, and what only reduces one, counts against no limit of orders. */
function countsNowhere({ account, signal, steps }: Entry): boolean {
  if (signal === null) return false;
  const isReducing = steps.some(
    ({ facts }) => facts?.positionOrder?.reduceOnly === true || facts?.counted?.onlyReduces === true,
  );
  if (isReducing || signal.action === 'protect' || signal.action === 'close') return true;
  const ground = settings.accounts[account]?.markets[signal.market]?.tradesOn ?? 'margin';
  return signal.action === 'order' && saysItReduces(signal, ground);
}

function findForgeries({ history, entries }: Facts): readonly Violation[] {
  const fingerprints = new Set(entries.map(({ fingerprint }) => fingerprint));
  return history.responses
    .filter(({ alert }) => alert.isForged)
    .filter(
      ({ alert, httpStatus }) => httpStatus < 300 || fingerprints.has(fingerprintOf(Buffer.from(alert.body))),
    )
    .map(({ alert }) => broken('I9', `${alert.name} was accepted although its token was never valid`));
}
