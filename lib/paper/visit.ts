import type { Dialect } from '../exchange/dialect.ts';
import type { Endpoint } from '../exchange/endpoint.ts';
import type { Refusal, RefusalName } from './refusals.ts';
import type { Trading } from './trading.ts';
import type { Checked, FieldReader } from './validation.ts';

/** A request that was let in. */
export interface Visit {
  /** Empty at a public endpoint. */
  readonly account: string;
  readonly read: FieldReader;
  /** The one this endpoint speaks. */
  readonly dialect: Dialect;
  readonly atMs: number;
  /** How far the lists of orders trail behind what happened. */
  readonly lagMs: number;
  readonly trading: Trading;
}

export type Reply =
  | {
      readonly ok: true;
      /** In the model's words. */
      readonly result: unknown;
      /** The response waits for this. */
      readonly stored?: Promise<void>;
    }
  | { readonly ok: false; readonly refusals: readonly [Refusal, ...Refusal[]] };

/** What the paper exchange needs to know of an endpoint; the client's own endpoints are such. */
export type PaperEndpoint = Omit<Endpoint, 'params' | 'result' | 'source'>;

/** How one endpoint is served. */
export interface Route {
  readonly endpoint: PaperEndpoint;
  /** Whether it places or cancels orders. */
  readonly trades: boolean;
  readonly serve: (visit: Visit) => Reply;
}

export function succeed(result: unknown): Reply {
  return { ok: true, result };
}

export function refuse(name: RefusalName): Reply {
  return { ok: false, refusals: [{ name }] };
}

/** Serves what was checked; what was not valid is refused as the check says. */
export function serveChecked<T>(checked: Checked<T>, serve: (value: T) => Reply): Reply {
  return checked.valid ? serve(checked.value) : { ok: false, refusals: checked.refusals };
}
