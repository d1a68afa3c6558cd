import type { Clock } from '../../base/clock.ts';
import type { LedgerEntrance } from '../../ledger/ledger.ts';
import { findRehearsalReason } from '../../model/account.ts';
import type { TurnedCloser } from '../../watch/watch-turned.ts';
import { askProtection } from './ask-protection.ts';

interface AskServices {
  readonly clock: Clock;
  readonly entrance: Pick<LedgerEntrance, 'accept'>;
  readonly isPaperExchange: boolean;
}

/** Asks for what closes a turned position where the account keeps its protection: a signal in the line of its market. */
export function createTurnedCloser(services: AskServices): TurnedCloser {
  return {
    closes: ({ protection, mode }) =>
      protection === 'keep' && findRehearsalReason(mode, services.isPaperExchange) === null,
    async ask(account, { fill: { market, signalId, role, dealId } }) {
      const need = {
        of: signalId,
        role: role === 'take_profit' ? role : ('stop_loss' as const),
        turnedBy: dealId,
        account,
        market,
        ticker: market,
        strategy: undefined,
        positionSide: undefined,
      };
      await askProtection(services, [need]);
    },
  };
}
