import type { Dialect } from '../../exchange/dialect.ts';
import type { Endpoint } from '../../exchange/endpoint.ts';
import type { Command } from '../engine/engine.ts';
import type { PaperOrder } from '../engine/exchange-state.ts';
import type { Refusal, RefusalName } from '../engine/refusals.ts';
import type { Trading } from '../engine/trading.ts';
import type { Checked, FieldReader } from './validation.ts';

/** An admitted request and what is needed to serve it. */
export interface RequestContext {
  /** Empty at a public endpoint. */
  readonly account: string;
  readonly read: FieldReader;
  /** The dialect of this endpoint. */
  readonly dialect: Dialect;
  readonly atMs: number;
  /** How far the order lists lag behind. */
  readonly lagMs: number;
  /** Whether the list of positions shows the attached exits. */
  readonly showsTpsl: boolean;
  readonly trading: Trading;
}

export type Reply =
  | {
      readonly ok: true;
      /** Under the model's names. */
      readonly result: unknown;
      /** The response is sent once this resolves. */
      readonly stored?: Promise<void>;
    }
  | { readonly ok: false; readonly refusals: readonly [Refusal, ...Refusal[]] };

/** The part of an endpoint that the paper exchange needs. Every endpoint of the client fits it. */
export type PaperEndpoint = Omit<Endpoint, 'params' | 'result' | 'source'>;

/** How one endpoint is served. */
export interface Route {
  readonly endpoint: PaperEndpoint;
  /** Whether it places or cancels orders, or changes an account: a key may lack the permission. */
  readonly trades: boolean;
  readonly serve: (context: RequestContext) => Reply;
}

/** The route of an endpoint that only reads. */
export function createReadRoute(endpoint: PaperEndpoint, serve: Route['serve']): Route {
  return { endpoint, trades: false, serve };
}

/** The route of an endpoint that places or cancels orders, or changes an account. */
export function createTradeRoute(endpoint: PaperEndpoint, serve: Route['serve']): Route {
  return { endpoint, trades: true, serve };
}

export function succeed(result: unknown): Reply {
  return { ok: true, result };
}

export function refuse(name: RefusalName): Reply {
  return { ok: false, refusals: [{ name }] };
}

/** Serves a request that passed its checks; otherwise returns the refusals of the check. */
export function serveChecked<T>(checked: Checked<T>, serve: (value: T) => Reply): Reply {
  return checked.valid ? serve(checked.value) : { ok: false, refusals: checked.refusals };
}

/**
 * Executes a command for one order and responds with a report of it. The report is built at once, because the order may
 * change before the command is stored.
 */
export function executeForOrder(
  { trading }: RequestContext,
  command: Command,
  report: (order: PaperOrder) => unknown,
): Reply {
  const { result, stored } = trading.execute(command);
  if (result.result === 'refused') return refuse(result.refusal);
  return { ok: true, result: result.result === 'order' ? report(result.order) : null, stored };
}
