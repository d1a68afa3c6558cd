import { formatDecimal } from '../../base/decimal.ts';
import { ExitSettingsChangeSchema } from '../engine/exit-settings.ts';
import { parseFaultRequest } from '../faults/faults.ts';
import { type Controlled, executeControl, makeTrade } from './control.ts';
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
import { describeState } from './state.ts';

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
  'POST /control/exits': postExits,
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
  await makeTrade(controlled, { market, price, volume });
  return { httpStatus: 200, body: { market, price } };
}

async function postBalance(controlled: Controlled, body: string): Promise<ControlResponse> {
  const request = readRequest(BalanceRequestSchema, body);
  await executeControl(controlled, { kind: 'set_balance', ...request });
  return { httpStatus: 200, body: request };
}

async function postFunds(controlled: Controlled, body: string): Promise<ControlResponse> {
  const request = readRequest(FundsRequestSchema, body);
  await executeControl(controlled, { kind: 'set_funds', ...request });
  return { httpStatus: 200, body: request };
}

async function postLeverage(controlled: Controlled, body: string): Promise<ControlResponse> {
  const request = readRequest(LeverageRequestSchema, body);
  await executeControl(controlled, { kind: 'set_leverage', ...request });
  return { httpStatus: 200, body: request };
}

async function postHedge(controlled: Controlled, body: string): Promise<ControlResponse> {
  const { account, hedgeMode } = readRequest(HedgeRequestSchema, body);
  await executeControl(controlled, { kind: 'set_hedge_mode', account, isHedged: hedgeMode });
  return { httpStatus: 200, body: { account, hedgeMode } };
}

/** Without any setting it only answers them. */
async function postExits(controlled: Controlled, body: string): Promise<ControlResponse> {
  const change = readRequest(ExitSettingsChangeSchema, body);
  if (Object.keys(change).length > 0) await executeControl(controlled, { kind: 'set_exits', change });
  return { httpStatus: 200, body: controlled.trading.state.exitSettings };
}

async function postFee(controlled: Controlled, body: string): Promise<ControlResponse> {
  const { ticker, ...change } = readRequest(FeeRequestSchema, body);
  await executeControl(controlled, { kind: 'set_fee', ticker, change });
  return { httpStatus: 200, body: controlled.trading.state.mainAccount.transferFees.get(ticker) };
}

async function postInterest(controlled: Controlled, body: string): Promise<ControlResponse> {
  const { account, amount, timestamp, ...request } = readRequest(InterestRequestSchema, body);
  const payment = {
    ...request,
    amount: formatDecimal(amount),
    timestamp: timestamp ?? Math.floor(controlled.nowMs() / 1000),
  };
  await executeControl(controlled, { kind: 'pay_interest', account, payment });
  return { httpStatus: 201, body: payment };
}

function postFault({ faults, beginOutage }: Controlled, body: string): ControlResponse {
  const view = faults.add(parseFaultRequest(parseBody(body), endpointNames));
  const response = { httpStatus: 201, body: view };
  return view.fault === 'down' ? { ...response, afterResponse: () => beginOutage(view) } : response;
}
