import type { ExchangeClient } from '../../exchange/client.ts';
import { denyMarket, limitsOf } from '../../limits/check-order.ts';
import type { Account } from '../../model/account.ts';
import type { Market } from '../../model/market.ts';
import type {
  OrderSignal,
  PositionSignal,
  ProtectPositionSignal,
  ProtectSignal,
} from '../../model/signal.ts';
import { deny, denyUnlisted, type Plan } from '../execute/action.ts';
import type { ExecuteServices } from '../services.ts';

/** Where a signal that depends on the position trades, or the plan that ends it. */
export type Ground =
  | { readonly ok: true; readonly market: Market; readonly client: ExchangeClient }
  | { readonly ok: false; readonly plan: Plan };

/** Checks that the market has positions that the relay can read. */
export async function checkPositions(
  services: ExecuteServices,
  account: Account,
  { action, market: name }: OrderSignal | PositionSignal | ProtectPositionSignal | ProtectSignal,
): Promise<Ground> {
  const market = await services.markets.find(name);
  if (market === null) return refuse(denyUnlisted(name));
  const traded = limitsOf(account, name);
  if (traded === null) return refuse({ verdict: 'denied', denial: denyMarket(name, account) });
  const what = action === 'order' ? '"requirePosition"' : `"${action}"`;
  // There the relay keeps the stop-loss of what was bought.
  if (traded.tradesOn === 'spot' && action !== 'protect')
    return refuse(
      deny(
        'not_on_spot',
        'margin or futures',
        'spot',
        `${name} trades on spot, where there are no positions; ${action === 'order' ? `remove ${what}` : `instead of ${what} write "sell" with "quantityPercent": "100%" to sell all of it`}`,
      ),
    );
  const client = await services.exchangeFor(account.name);
  if (client.dialect === 'live') return { ok: true, market, client };
  return refuse(
    deny(
      'position_not_in_dialect',
      'the dialect "live"',
      client.dialect,
      `in the dialect "${client.dialect}" the exchange does not show positions, which ${what} depends on; write "exit_long" or "exit_short" with a size, or set the exchange's dialect in relay.config.ts to "live" if that is what it speaks`,
    ),
  );
}

function refuse(plan: Plan): Ground {
  return { ok: false, plan };
}
