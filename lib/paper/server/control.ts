import { type Decimal, formatDecimal, zero } from '../../base/decimal.ts';
import type { PaperInterestPayment } from '../engine/accounts.ts';
import type { Command } from '../engine/engine.ts';
import type { FeeTermsChange } from '../engine/main-account.ts';
import { marketNamed } from '../engine/markets.ts';
import { leverages } from '../engine/positions.ts';
import { type RefusalName, refusalTable } from '../engine/refusals.ts';
import type { AccountType } from '../engine/set-funds.ts';
import type { Trading } from '../engine/trading.ts';
import { type FaultBox, type FaultRequest, type FaultView, parseFaultRequest } from '../faults/faults.ts';
import {
  BalanceRequestSchema,
  FeeRequestSchema,
  FundsRequestSchema,
  HedgeRequestSchema,
  InterestRequestSchema,
  LeverageRequestSchema,
  PriceRequestSchema,
  parseBody,
  readRequest,
} from './control-requests.ts';
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
    setPrice: (market, price, volume) => forget(trade(controlled, { market, price, volume: volume ?? null })),
    setBalance: (account, ticker, amount) =>
      forget(execute(controlled, { kind: 'set_balance', account, ticker, amount })),
    setFunds: (account, of, ticker, amount) =>
      forget(execute(controlled, { kind: 'set_funds', account, of, ticker, amount })),
    setLeverage: (account, leverage) =>
      forget(execute(controlled, { kind: 'set_leverage', account, leverage })),
    setHedgeMode: (account, isHedged) =>
      forget(execute(controlled, { kind: 'set_hedge_mode', account, isHedged })),
    listCancelled(account, isListed) {
      if (isListed) trading.withoutCancelled.delete(account);
      else trading.withoutCancelled.add(account);
    },
    setFee: (ticker, change) => forget(execute(controlled, { kind: 'set_fee', ticker, change })),
    payInterest: (account, payment) =>
      forget(execute(controlled, { kind: 'pay_interest', account, payment })),
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
function execute({ trading, nowMs }: Controlled, command: Untimed<Command>): Promise<void> {
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

function trade(controlled: Controlled, { market, price, volume }: Trade): Promise<void> {
  marketNamed(market);
  if (price.lte(zero)) throw new RangeError(`a price must be above 0; ${price.toFixed()} is not`);
  if (volume?.lte(zero)) throw new RangeError(`a volume must be above 0; ${volume.toFixed()} is not`);
  return execute(controlled, { kind: 'trade', market, price, volume });
}

/** The response of a control route, and what to do once the response is sent. */
export interface ControlResponse {
  readonly httpStatus: number;
  readonly body: unknown;
  readonly afterResponse?: () => void;
}

type ControlRoute = (controlled: Controlled, body: string) => ControlResponse | Promise<ControlResponse>;

const controlRoutes: Readonly<Record<string, ControlRoute>> = {
  'GET /control/state': ({ trading }) => ({ httpStatus: 200, body: describeState(trading.state) }),
  'POST /control/price': postPrice,
  'POST /control/balance': postBalance,
  'POST /control/funds': postFunds,
  'POST /control/leverage': postLeverage,
  'POST /control/hedge': postHedge,
  'POST /control/fee': postFee,
  'POST /control/interest': postInterest,
  'GET /control/faults': ({ faults }) => ({ httpStatus: 200, body: faults.list() }),
  'POST /control/faults': postFault,
  'DELETE /control/faults': ({ faults }) => {
    faults.clear();
    return { httpStatus: 200, body: [] };
  },
};

/** Serves one control request. An invalid request gets a 400 or 404 response with the validation issues. */
export async function serveControl(
  controlled: Controlled,
  address: string,
  body: string,
): Promise<ControlResponse> {
  const route = Object.hasOwn(controlRoutes, address) ? controlRoutes[address] : undefined;
  if (route === undefined) return refuse(404, `unknown route: ${address}`, Object.keys(controlRoutes));
  try {
    return await route(controlled, body);
  } catch (error) {
    if (error instanceof RangeError) return refuse(400, error.message);
    throw error;
  }
}

function refuse(httpStatus: number, message: string, routes?: readonly string[]): ControlResponse {
  return { httpStatus, body: { error: message, ...(routes === undefined ? {} : { routes }) } };
}

async function postPrice(controlled: Controlled, body: string): Promise<ControlResponse> {
  const { market, price, volume = null } = readRequest(PriceRequestSchema, body);
  await trade(controlled, { market, price, volume });
  return { httpStatus: 200, body: { market, price } };
}

async function postBalance(controlled: Controlled, body: string): Promise<ControlResponse> {
  const request = readRequest(BalanceRequestSchema, body);
  await execute(controlled, { kind: 'set_balance', ...request });
  return { httpStatus: 200, body: request };
}

async function postFunds(controlled: Controlled, body: string): Promise<ControlResponse> {
  const request = readRequest(FundsRequestSchema, body);
  await execute(controlled, { kind: 'set_funds', ...request });
  return { httpStatus: 200, body: request };
}

async function postLeverage(controlled: Controlled, body: string): Promise<ControlResponse> {
  const request = readRequest(LeverageRequestSchema, body);
  await execute(controlled, { kind: 'set_leverage', ...request });
  return { httpStatus: 200, body: request };
}

async function postHedge(controlled: Controlled, body: string): Promise<ControlResponse> {
  const { account, hedgeMode } = readRequest(HedgeRequestSchema, body);
  await execute(controlled, { kind: 'set_hedge_mode', account, isHedged: hedgeMode });
  return { httpStatus: 200, body: { account, hedgeMode } };
}

async function postFee(controlled: Controlled, body: string): Promise<ControlResponse> {
  const { ticker, ...change } = readRequest(FeeRequestSchema, body);
  await execute(controlled, { kind: 'set_fee', ticker, change });
  return { httpStatus: 200, body: controlled.trading.state.mainAccount.transferFees.get(ticker) };
}

async function postInterest(controlled: Controlled, body: string): Promise<ControlResponse> {
  const { account, amount, timestamp, ...request } = readRequest(InterestRequestSchema, body);
  const payment = {
    ...request,
    amount: formatDecimal(amount),
    timestamp: timestamp ?? Math.floor(controlled.nowMs() / 1000),
  };
  await execute(controlled, { kind: 'pay_interest', account, payment });
  return { httpStatus: 201, body: payment };
}

function postFault({ faults, beginOutage }: Controlled, body: string): ControlResponse {
  const view = faults.add(parseFaultRequest(parseBody(body), endpointNames));
  const response = { httpStatus: 201, body: view };
  return view.fault === 'down' ? { ...response, afterResponse: () => beginOutage(view) } : response;
}
