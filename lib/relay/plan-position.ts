import type { Account } from '../model/account.ts';
import type { PositionSignal } from '../model/signal.ts';
import { deny, type Plan } from './action.ts';
import type { ExecuteServices } from './services.ts';

export async function planPosition(
  _services: ExecuteServices,
  _account: Account,
  { signal }: { readonly signal: PositionSignal },
): Promise<Plan> {
  return await Promise.resolve(
    deny('position_actions', 'orders', signal.action, 'position actions are not carried out yet'),
  );
}
