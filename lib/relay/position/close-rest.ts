import { hasPassed } from '../../base/clock.ts';
import { describeSafely } from '../../base/describe-error.ts';
import { RelayError } from '../../base/errors.ts';
import type { Entry } from '../../ledger/entry.ts';
import type { NewEntry } from '../../ledger/ledger.ts';
import type { CloseSignal } from '../../model/signal.ts';
import { clientOrderIdOf, fingerprintOf, isSignalId } from '../../signals/identity.ts';
import type { ExecuteServices } from '../services.ts';

/** A thin book fills again within seconds; later signals of the market wait no longer than that. */
const pauseMs = 1000;
const mostTries = 3;
const tryPattern = /:rest-(?<number>\d)$/;

type RestServices = Pick<ExecuteServices, 'entrance' | 'clock'>;

/**
 * Closes what an order left that was to close all of a position: stores a further close, a few times at most. It is as old
 * as the first alert, and has its bounds: what they fill is no worse than what the first order could fill.
 *
 * @throws RelayError `store_unavailable`
 */
export async function closeRest({ entrance, clock }: RestServices, entry: Entry): Promise<void> {
  const next = nextClose(entry);
  if (next === null) return;
  await clock.sleep(pauseMs);
  await entrance.accept([{ ...next, atMs: clock.nowMs() }], null);
}

/**
 * The same for closes whose own worker ended before it could store another try, and for those whose outcome a lookup has
 * found. A try that is stored already stays as it is. One that is too old by now is stored, too: its denial tells that nothing
 * closes the rest any more.
 *
 * @returns the signals of those that must be looked at once more
 */
export async function resumeCloses(
  { entrance, clock, log }: RestServices & Pick<ExecuteServices, 'log'>,
  entries: readonly Entry[],
): Promise<ReadonlySet<string>> {
  const atMs = clock.nowMs();
  const pending = new Set<string>();
  for (const entry of entries) {
    const { account, signalId, updatedAtMs } = entry;
    const next = nextClose(entry);
    if (next === null) continue;
    try {
      // Its own worker may be about to do it.
      if (hasPassed(updatedAtMs, 2 * pauseMs, atMs)) await entrance.accept([{ ...next, atMs }], null);
      else pending.add(signalId);
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
      pending.add(signalId);
      log.warn('the rest of a position is closed later', {
        account,
        signalId,
        reason: describeSafely(error),
      });
    }
  }
  return pending;
}

type CloseName = Pick<Entry, 'signal' | 'signalId'>;

/** Whether another try follows what the order of a signal leaves. */
export function isTriedAgain(entry: CloseName): boolean {
  return nameNext(entry) !== null;
}

/** @returns null for what closes no whole position, or was tried often enough */
function nameNext({ signal, signalId }: CloseName) {
  if (signal?.action !== 'close' && !(signal?.action === 'target' && signal.target.unit === 'flat'))
    return null;
  const tried = Number(tryPattern.exec(signalId)?.groups?.['number'] ?? '0');
  const nextId = `${signalId.replace(tryPattern, '')}:rest-${tried + 1}`;
  return tried < mostTries && isSignalId(nextId) ? { signal, nextId } : null;
}

interface NextClose extends Omit<NewEntry, 'atMs'> {
  readonly signal: CloseSignal;
}

/** @returns null when nothing is left to close, or it was tried often enough */
function nextClose(entry: Entry): NextClose | null {
  const { account, steps, createdAtMs } = entry;
  const next = nameNext(entry);
  const facts = steps.at(-1)?.facts ?? {};
  const { position, bound } = steps.findLast(({ status }) => status === 'sending')?.facts ?? {};
  if (next === null || facts.rest === undefined || position === undefined) return null;
  const { signal, nextId } = next;
  const { ticker, market, maxLagMs, maxSlippage, stp, strategy, timeMs } = signal;
  const worstPrice = (signal.action === 'close' ? signal.worstPrice : undefined) ?? bound;
  const openedByMs =
    (signal.action === 'close' ? signal.openedByMs : undefined) ?? facts.report?.createdAtMs ?? undefined;
  const close: CloseSignal = {
    ticker,
    market,
    timeMs: timeMs ?? createdAtMs,
    maxLagMs,
    action: 'close',
    // What has turned meanwhile is another position.
    only: position.amount.startsWith('-') ? 'short' : 'long',
    ...(position.side === undefined ? {} : { positionSide: position.side }),
    ...(maxSlippage === undefined ? {} : { maxSlippage }),
    ...(worstPrice === undefined ? {} : { worstPrice }),
    ...(stp === undefined ? {} : { stp }),
    ...(strategy === undefined ? {} : { strategy }),
    // The first one has cancelled what rested before it.
    keepEntries: true,
    atMost: facts.rest,
    ...(openedByMs === undefined ? {} : { openedByMs }),
  };
  return {
    account,
    signalId: nextId,
    signal: close,
    clientOrderId: clientOrderIdOf(account, nextId),
    fingerprint: fingerprintOf(Buffer.from(nextId)),
  };
}
