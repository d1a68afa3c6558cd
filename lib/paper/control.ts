import * as z from 'zod';
import { type Decimal, isDecimalText, parseDecimal, zero } from '../base/decimal.ts';
import { type FaultBox, type FaultRequest, type FaultView, parseFaultRequest } from './faults.ts';
import { marketNamed } from './markets.ts';
import { endpointNames } from './routes.ts';
import { describeWorld, type PaperState } from './state.ts';
import type { Trading } from './trading.ts';

/** The hand that moves prices and breaks things; the control routes do the same over HTTP. */
export interface PaperControl {
  /**
   * Makes one trade happen.
   *
   * @param volume how much of the orders here it can fill, in stock units; absent: as much as there is
   * @throws RangeError for an unknown market, or a price or volume that is not above zero; RelayError
   *   `store_unavailable` after the journal was lost
   */
  setPrice(market: string, price: Decimal, volume?: Decimal): void;
  /** @throws RangeError that says what is wrong with the request */
  addFault(fault: FaultRequest): FaultView;
  /** Also ends an outage. */
  clearFaults(): void;
  faults(): readonly FaultView[];
  state(): PaperState;
}

/** What the controls act upon. */
export interface Controlled {
  readonly trading: Trading;
  readonly faults: FaultBox;
  readonly nowMs: () => number;
  readonly beginOutage: (fault: FaultView) => void;
  readonly endOutage: () => void;
}

export function createControl(controlled: Controlled): PaperControl {
  const { trading, faults } = controlled;
  return {
    setPrice(market, price, volume) {
      // A failed write shows at the next order; here there is nobody to tell.
      trade(controlled, { market, price, volume: volume ?? null }).catch(() => {});
    },
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
    state: () => describeWorld(trading.world),
  };
}

interface Trade {
  readonly market: string;
  readonly price: Decimal;
  readonly volume: Decimal | null;
}

function trade({ trading, nowMs }: Controlled, { market, price, volume }: Trade): Promise<void> {
  marketNamed(market);
  if (price.lte(zero)) throw new RangeError(`a price must be above 0; ${price.toFixed()} is not`);
  if (volume?.lte(zero)) throw new RangeError(`a volume must be above 0; ${volume.toFixed()} is not`);
  return trading.execute({ kind: 'trade', atMs: nowMs(), market, price, volume }).stored;
}

/** What a control route answers, and what is to happen once the answer is out. */
export interface ControlAnswer {
  readonly httpStatus: number;
  readonly body: unknown;
  readonly afterAnswer?: () => void;
}

const DecimalText = z
  .string()
  .refine(isDecimalText, 'must be a decimal number as text, for example "60000.5"')
  .transform((text) => parseDecimal(text));

const PriceRequestSchema = z.strictObject({
  market: z.string(),
  price: DecimalText,
  volume: DecimalText.optional(),
});

type ControlRoute = (controlled: Controlled, body: string) => ControlAnswer | Promise<ControlAnswer>;

const controlRoutes: Readonly<Record<string, ControlRoute>> = {
  'GET /control/state': ({ trading }) => ({ httpStatus: 200, body: describeWorld(trading.world) }),
  'POST /control/price': postPrice,
  'GET /control/faults': ({ faults }) => ({ httpStatus: 200, body: faults.list() }),
  'POST /control/faults': postFault,
  'DELETE /control/faults': ({ faults }) => {
    faults.clear();
    return { httpStatus: 200, body: [] };
  },
};

/** Serves one control route; a mistake in the request is answered with what is wrong with it. */
export async function serveControl(
  controlled: Controlled,
  address: string,
  body: string,
): Promise<ControlAnswer> {
  const route = Object.hasOwn(controlRoutes, address) ? controlRoutes[address] : undefined;
  if (route === undefined) return refuse(404, `there is no ${address}`, Object.keys(controlRoutes));
  try {
    return await route(controlled, body);
  } catch (error) {
    if (error instanceof RangeError) return refuse(400, error.message);
    throw error;
  }
}

function refuse(httpStatus: number, message: string, routes?: readonly string[]): ControlAnswer {
  return { httpStatus, body: { error: message, ...(routes === undefined ? {} : { routes }) } };
}

async function postPrice(controlled: Controlled, body: string): Promise<ControlAnswer> {
  const parsed = PriceRequestSchema.safeParse(readJson(body));
  if (!parsed.success) throw new RangeError(z.prettifyError(parsed.error));
  const { market, price, volume = null } = parsed.data;
  await trade(controlled, { market, price, volume });
  return { httpStatus: 200, body: { market, price } };
}

function postFault({ faults, beginOutage }: Controlled, body: string): ControlAnswer {
  const view = faults.add(parseFaultRequest(readJson(body), endpointNames));
  const answer = { httpStatus: 201, body: view };
  return view.fault === 'down' ? { ...answer, afterAnswer: () => beginOutage(view) } : answer;
}

function readJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new RangeError('the body must be JSON');
  }
}
