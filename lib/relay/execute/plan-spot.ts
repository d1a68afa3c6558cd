import { findUnsettled } from '../../account/read-position.ts';
import type { OrderRecord } from '../../ledger/order-record.ts';
import type { Account } from '../../model/account.ts';
import type { Denial } from '../../model/outcome.ts';
import type { OrderSignal } from '../../model/signal.ts';
import type { StoppedSale } from '../../protection/stop-sales.ts';
import { noteAnswered, type SaleName } from '../protect/answered-stops.ts';
import type { ExecuteServices } from '../services.ts';
import type { Plan } from './action.ts';

/**
 * The stop-loss of a spot buy is sized on the balance, which an order of unknown outcome may change: it would be placed minutes
 * after the buy.
 *
 * @see DECISIONS 167
 */
export async function checkStopPlaceable(
  services: ExecuteServices,
  { name }: Account,
  { market, side, stopLoss }: OrderSignal,
): Promise<Denial | null> {
  if (side !== 'buy' || stopLoss === undefined) return null;
  const awaited = await findUnsettled(services, { account: name, market, signalId: '' }, null);
  if (awaited === undefined) return null;
  const { signalId, status } = awaited;
  return {
    rule: 'stop_loss_waits',
    limit: 'no order of unknown outcome in the market',
    actual: `"${signalId}" (${status})`,
    message: `its stop-loss could not be placed when it fills: the outcome of signal "${signalId}" is not known yet (${status}), and it may change the balance; nothing was bought. Settle that one with npx relay resolve, or wait until it was looked up, and send the alert again`,
  };
}

/** A sale of what a stop-loss has sold sells nothing: it would sell the next buy. */
export function soldAlready(
  { facts }: Pick<ExecuteServices, 'facts'>,
  name: SaleName,
  { note, parts }: StoppedSale,
  records: readonly OrderRecord[],
): Plan {
  return {
    verdict: 'ended',
    outcome: {
      status: 'satisfied',
      note: `nothing was sent: ${note}; a sale of what is left is the next one`,
      evidence: null,
    },
    store: () => noteAnswered(facts, name, parts, records),
  };
}

/** It may have sold what the sale is for, which would then sell the next buy. */
export function waitForStop(doubt: string): Plan {
  return {
    verdict: 'waiting',
    reason: doubt,
    mayPassSoon: true,
    orElse: {
      rule: 'stop_not_known',
      limit: 'stop-losses of which it is known what they have sold',
      actual: 'one that may have sold',
      message: `${doubt}: it may have sold the same already, so nothing was sold; send the sale again, or sell by hand`,
    },
  };
}
