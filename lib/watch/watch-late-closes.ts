import { closeCommand } from '../account/find-turned.ts';
import { hasPassed } from '../base/clock.ts';
import { formatDecimal } from '../base/decimal.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { createTeller, type TellServices } from '../ledger/tell-once.ts';
import { type OpenPosition, placeOf } from '../model/holdings.ts';
import { withoutOrder } from '../model/outcome.ts';
import { placesOrder, wantsNoPosition } from '../model/signal.ts';

interface LateServices extends TellServices {
  readonly ledger: Pick<Ledger, 'list'>;
}

/** The newest signals of an account: a close that is told lies minutes back at most. */
const mostEntries = 100;
const toldWithinMs = 10 * 60_000;
/** The clock here may be so far ahead of the exchange's. */
const clockToleranceMs = 2_000;

/**
 * Tells of a close that has found no position, where the exchange shows one that was there before: the list of positions was
 * older than any that the relay waits for. Nothing closes it any more.
 *
 * @throws RelayError `store_unavailable`
 */
export async function watchLateCloses(
  services: LateServices,
  account: string,
  positions: readonly OpenPosition[],
  nowMs: number,
): Promise<void> {
  // No list is so late that it misses for longer what an older position was.
  const young = positions.filter(
    ({ modifiedAtMs }) => modifiedAtMs !== null && nowMs - modifiedAtMs < toldWithinMs,
  );
  if (young.length === 0) return;
  const { entries: found } = await services.ledger.list({ account, status: 'satisfied', limit: mostEntries });
  const isClose = ({ signal, updatedAtMs }: Entry) =>
    signal !== null && wantsNoPosition(signal) && !hasPassed(updatedAtMs, toldWithinMs, nowMs);
  const closes = new Set(found.filter(isClose).map(({ signalId }) => signalId));
  if (closes.size === 0) return;
  const { entries } = await services.ledger.list({ account, limit: mostEntries });
  for (const position of young) {
    const close = findLast(position, entries);
    if (close === undefined || !closes.has(close.signalId) || !isOlder(position, close)) continue;
    const { market, amount, positionSide } = position;
    const command = closeCommand(market, account, positionSide);
    await createTeller(services).tell(account, {
      key: `late list ${market} ${close.signalId}`,
      alarm: {
        name: 'close_incomplete',
        message: `signal "${close.signalId}" found no open position in ${market}, and the exchange shows one of ${formatDecimal(amount)} that was there before: its list was late; close it with \`${command}\`, unless you want it`,
      },
      facts: { signalId: close.signalId, market, amount: formatDecimal(amount), whatToDo: command },
      everyMs: null,
    });
  }
}

/** The last signal that may have changed a position, or has found it as wanted. @param entries newest first */
function findLast({ market, positionSide }: OpenPosition, entries: readonly Entry[]): Entry | undefined {
  return entries.find(({ signal, status }) => {
    if (signal?.market !== market || !placesOrder(signal) || signal.action === 'protect') return false;
    const { side } = placeOf(signal);
    const isOfPosition = side === null || positionSide === 'BOTH' || side === positionSide;
    return isOfPosition && !withoutOrder.has(status);
  });
}

function isOlder({ modifiedAtMs }: OpenPosition, { updatedAtMs }: Entry): boolean {
  return modifiedAtMs !== null && modifiedAtMs <= updatedAtMs - clockToleranceMs;
}
