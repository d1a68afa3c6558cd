import type { Alarm } from '../../base/alarms.ts';
import { RelayError } from '../../base/errors.ts';
import { isReduction } from '../../model/signal.ts';
import { type AlertContext, parseAlert } from '../../signals/parse-alert.ts';

/**
 * The markets of an alert that was refused only because they trade on spot, where nothing closes a position. The owner may have
 * changed where they trade while one stands on margin.
 */
export function marketsOfRefusedCloses(body: Uint8Array, context: AlertContext): readonly string[] {
  const { account } = context;
  const spot = Object.entries(account.markets).filter(([, { tradesOn }]) => tradesOn === 'spot');
  if (spot.length === 0) return [];
  const onMargin = spot.map(([market, limits]) => [market, { ...limits, tradesOn: 'margin' as const }]);
  const markets = { ...account.markets, ...Object.fromEntries(onMargin) };
  try {
    const { items } = parseAlert(body, { ...context, account: { ...account, markets } });
    const closed = items.flatMap(({ signal, reduceLeg = signal }) =>
      isReduction(reduceLeg) ? signal.market : [],
    );
    return spot.flatMap(([market]) => (closed.includes(market) ? market : []));
  } catch (error) {
    if (error instanceof RelayError) return [];
    throw error;
  }
}

export function refusedCloseAlarm(market: string): Alarm {
  return {
    name: 'signal_not_executed',
    message: `an alert to close or reduce a position in ${market} was refused, because ${market} trades on spot in relay.config.ts; a position that stands there on margin from before is as it was: write tradesOn as it was until it is closed. Coins are sold by "action": "sell"`,
  };
}
