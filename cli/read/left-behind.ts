import { readPositions } from '../../lib/account/read-positions.ts';
import { RelayError } from '../../lib/base/errors.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import type { Account } from '../../lib/model/account.ts';
import { CommandFailure } from '../failure.ts';
import { askExchange, timeoutMs } from '../session/exchange.ts';
import type { Session } from '../session/session.ts';

/** What an account has at the exchange, which nobody looks after once the relay is gone. */
export interface LeftBehind {
  readonly account: string;
  /** Null: it could not be read, and `reason` says why. */
  readonly orders: readonly string[] | null;
  readonly positions: readonly string[] | null;
  readonly reason: string | null;
}

/**
 * Reads open orders and positions of every account, also of one in dry-run: it may have traded before. One in dry-run without
 * a key is left out.
 */
export async function readLeftBehind(session: Session): Promise<readonly LeftBehind[]> {
  const read = await Promise.all(
    Object.values(session.settings.accounts).map((account) => readAccount(session, account)),
  );
  return read.flatMap((account) => account ?? []);
}

/** Whether anything is open, or may be. */
export function mayBeOpen({ orders, positions }: LeftBehind): boolean {
  return orders === null || positions === null || orders.length + positions.length > 0;
}

async function readAccount(session: Session, account: Account): Promise<LeftBehind | null> {
  const { name, mode } = account;
  try {
    if (session.locateExchange().dialect !== 'live')
      return unread(name, 'the documented dialect has no list of all open orders');
    return await askExchange(session, account, async (client) => {
      const { orders, isWhole } = await listOpenOrders(client, null, { timeoutMs });
      const { positions } = await readPositions({ client, clock: session.clock, limits: { timeoutMs } });
      if (!isWhole) return unread(name, 'its list of orders is too long, or holds one that cannot be read');
      return {
        account: name,
        orders: orders.map(({ market, side, orderId }) => `${side} in ${market}, order ${orderId}`),
        positions: positions.map(({ market, amount }) => `${amount.toFixed()} in ${market}`),
        reason: null,
      };
    });
  } catch (error) {
    if (!(error instanceof RelayError) && !(error instanceof CommandFailure)) throw error;
    if (mode === 'dry-run' && error.code === 'secrets_missing') return null;
    return unread(name, error.message);
  }
}

function unread(account: string, reason: string): LeftBehind {
  return { account, orders: null, positions: null, reason };
}
