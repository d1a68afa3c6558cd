import type { Denial } from '../model/outcome.ts';
import { type RiskLimit, unused } from './risk-limit.ts';

const minuteMs = 60_000;

/** How long nothing is opened after a fill that closed at a loss; once exactly that time has passed, it is allowed. */
export const coolDownAfterLoss: RiskLimit = {
  name: 'coolDownAfterLoss',
  again: null,
  needs: ({ limits }) =>
    (limits?.coolDownMs ?? null) === null ? null : { holdings: false, allMarkets: false, deals: true },
  check: (_, { lastLossAtMs, nowMs }, { limits }) =>
    checkCoolDown(lastLossAtMs, limits?.coolDownMs ?? null, nowMs),
  use({ lastLossAtMs, nowMs }, { limits }) {
    const coolDownMs = limits?.coolDownMs ?? null;
    if (coolDownMs === null) return [];
    const denial = checkCoolDown(lastLossAtMs, coolDownMs, nowMs);
    const leftMs = denial === null || lastLossAtMs === null ? 0 : lastLossAtMs + coolDownMs - nowMs;
    return [
      {
        ...unused('coolDownAfterLoss'),
        limit: String(coolDownMs / minuteMs),
        left: String(Math.ceil(leftMs / minuteMs)),
        unit: 'minutes',
        sinceMs: lastLossAtMs,
        denies: denial?.message ?? null,
      },
    ];
  },
};

function checkCoolDown(lastLossAtMs: number | null, coolDownMs: number | null, nowMs: number): Denial | null {
  if (lastLossAtMs === null || coolDownMs === null || nowMs >= lastLossAtMs + coolDownMs) return null;
  const until = new Date(lastLossAtMs + coolDownMs).toISOString();
  return {
    rule: 'cool_down_after_loss',
    limit: `${coolDownMs / minuteMs} min`,
    actual: `${Math.max(0, Math.floor((nowMs - lastLossAtMs) / minuteMs))} min`,
    message: `a fill closed at a loss at ${new Date(lastLossAtMs).toISOString()}, and nothing is opened until ${until}; orders that only reduce a position are still sent; lower coolDownAfterLoss in relay.config.ts if that is too long`,
  };
}
