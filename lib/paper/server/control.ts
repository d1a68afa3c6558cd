import { type Decimal, zero } from '../../base/decimal.ts';
import type { PaperInterestPayment } from '../engine/accounts.ts';
import type { Command } from '../engine/engine.ts';
import type { ExitSettings, ExitSettingsChange } from '../engine/exit-settings.ts';
import type { FeeTermsChange } from '../engine/main-account.ts';
import { marketNamed } from '../engine/markets.ts';
import { leverages } from '../engine/positions.ts';
import { type RefusalName, refusalTable } from '../engine/refusals.ts';
import type { AccountType } from '../engine/set-funds.ts';
import type { Trading } from '../engine/trading.ts';
import { type FaultBox, type FaultRequest, type FaultView, parseFaultRequest } from '../faults/faults.ts';
import { endpointNames } from './routes.ts';
import { describeState, type PaperState } from './state.ts';

/**
 * Sets prices, balances, modes and faults of the paper exchange. The control routes do the same over HTTP.
 */
export interface PaperControl {
  /**
   * Executes one market trade at this price.
   *
   * @param volume how much of the resting orders it can fill, in base units; absent: unlimited
   * @throws RangeError for an unknown market, or a price or volume that is not above zero; RelayError
   *   `store_unavailable` after the journal was lost
   */
  setPrice(market: string, price: Decimal, volume?: Decimal): void;
  /** Sets an account's main balance of a currency; zero removes it. @throws as `setPrice` does */
  setBalance(account: string, ticker: string, amount: Decimal): void;
  /**
   * Sets a balance of an account's spot or collateral account, as a deposit or withdrawal would.
   *
   * @param amount what it holds afterwards, with the funds reserved for orders; not below those
   * @throws as `setPrice` does
   */
  setFunds(account: string, of: AccountType, ticker: string, amount: Decimal): void;
  /**
   * Changes the leverage of an account: 1, 2, 3, 5, 10, 20, 50 or 100.
   *
   * @throws RangeError also when the account lacks the funds for a lower one; as `setPrice` does
   */
  setLeverage(account: string, leverage: number): void;
  /**
   * Switches an account between hedge mode and one-way mode.
   *
   * @throws RangeError also while the account has orders or positions on a perpetual market; as `setPrice`
   *   does
   */
  setHedgeMode(account: string, isHedged: boolean): void;
  /**
   * Leaves cancelled orders out of an account's history, or lists them again. The live service leaves them out for
   * partners. A restart of the exchange lists them again.
   */
  listCancelled(account: string, isListed: boolean): void;
  /** Changes how it makes the stop-loss and take-profit of an order; settings that are not given stay. @throws as `setPrice` does */
  setExits(change: ExitSettingsChange): ExitSettings;
  /** Changes the transfer fees of a currency; terms that are not given stay. @throws as `setPrice` does */
  setFee(ticker: string, change: FeeTermsChange): void;
  /** Adds a payment to a partner's history, which is sorted newest first. @throws as `setPrice` does */
  payInterest(account: string, payment: PaperInterestPayment): void;
  /** @throws RangeError that names the validation issues */
  addFault(fault: FaultRequest): FaultView;
  /** Removes all faults and ends an outage. */
  clearFaults(): void;
  faults(): readonly FaultView[];
  state(): PaperState;
}

/** The parts that the controls act on. */
export interface Controlled {
  readonly trading: Trading;
  readonly faults: FaultBox;
  readonly nowMs: () => number;
  readonly beginOutage: (fault: FaultView) => void;
  readonly endOutage: () => void;
}

export function createControl(controlled: Controlled): PaperControl {
  const { trading, faults } = controlled;
  // The controls cannot report a failed write. The next order fails because of it.
  const forget = (stored: Promise<void>): void => void stored.catch(() => {});
  return {
    setPrice: (market, price, volume) =>
      forget(makeTrade(controlled, { market, price, volume: volume ?? null })),
    setBalance: (account, ticker, amount) =>
      forget(executeControl(controlled, { kind: 'set_balance', account, ticker, amount })),
    setFunds: (account, of, ticker, amount) =>
      forget(executeControl(controlled, { kind: 'set_funds', account, of, ticker, amount })),
    setLeverage: (account, leverage) =>
      forget(executeControl(controlled, { kind: 'set_leverage', account, leverage })),
    setHedgeMode: (account, isHedged) =>
      forget(executeControl(controlled, { kind: 'set_hedge_mode', account, isHedged })),
    listCancelled(account, isListed) {
      if (isListed) trading.withoutCancelled.delete(account);
      else trading.withoutCancelled.add(account);
    },
    setExits(change) {
      forget(executeControl(controlled, { kind: 'set_exits', change }));
      return trading.state.exitSettings;
    },
    setFee: (ticker, change) => forget(executeControl(controlled, { kind: 'set_fee', ticker, change })),
    payInterest: (account, payment) =>
      forget(executeControl(controlled, { kind: 'pay_interest', account, payment })),
    addFault(request) {
      const view = faults.add(parseFaultRequest(request, endpointNames));
      if (view.fault === 'down') controlled.beginOutage(view);
      return view;
    },
    clearFaults() {
      faults.clear();
      controlled.endOutage();
    },
    faults: () => faults.list(),
    state: () => describeState(trading.state),
  };
}

/** A command without its time, which `execute` takes from the clock. */
type Untimed<C extends Command> = C extends Command ? Omit<C, 'atMs'> : never;

/**
 * Takes effect at once; resolves once it is stored.
 *
 * @throws RangeError when the exchange refuses the command
 */
export function executeControl({ trading, nowMs }: Controlled, command: Untimed<Command>): Promise<void> {
  const { result, stored } = trading.execute({ ...command, atMs: nowMs() });
  if (result.result !== 'refused') return stored;
  throw new RangeError(refusedControls[result.refusal] ?? refusalTable[result.refusal].text);
}

/** What to do about a refusal of these controls; the text of the service does not say it. */
const refusedControls: Partial<Readonly<Record<RefusalName, string>>> = {
  hedge_mode_in_use:
    'the account cannot change its mode while it has orders or positions on a perpetual market; cancel and close them first',
  leverage_unknown: `the leverage must be one of ${leverages.join(', ')}`,
  leverage_not_covered:
    'the account lacks the funds for this leverage: its orders and positions would need more margin; cancel or close some first',
};

interface Trade {
  readonly market: string;
  readonly price: Decimal;
  readonly volume: Decimal | null;
}

export function makeTrade(controlled: Controlled, { market, price, volume }: Trade): Promise<void> {
  marketNamed(market);
  if (price.lte(zero)) throw new RangeError(`a price must be above 0; ${price.toFixed()} is not`);
  if (volume?.lte(zero)) throw new RangeError(`a volume must be above 0; ${volume.toFixed()} is not`);
  return executeControl(controlled, { kind: 'trade', market, price, volume });
}
