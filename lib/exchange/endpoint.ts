import type * as z from 'zod/mini';

/**
 * The model's name → the wire name. Names that are not listed are the same on both sides.
 *
 * @see DECISIONS 6
 */
export type FieldNames = Readonly<Record<string, string>>;

/**
 * One operation of the exchange, as a value. The client, the paper exchange, the CLI and the tests all read
 * this one description.
 *
 * Parameters and results use the model's names (camelCase). A dialect renames them on the wire.
 */
export interface Endpoint<
  Params extends z.ZodMiniType = z.ZodMiniType,
  Result extends z.ZodMiniType = z.ZodMiniType,
> {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  /**
   * The path per dialect, `/api/v4` included. `{market}` stands for the parameter `market`, which is then sent nowhere
   * else. Only public endpoints have such paths.
   */
  readonly path: { readonly documented: string; readonly live: string };
  readonly access: 'public' | 'private';
  /**
   * `live-only`: the live service has it, the written API does not. It uses the live names in every dialect.
   */
  readonly availability: 'documented' | 'live-only';
  /**
   * Whether sending it twice does no harm. A create is not repeatable: it takes effect even if its response
   * is lost.
   */
  readonly repeatable: boolean;
  /** Requests per address in any 10 seconds. */
  readonly requestsPer10s: number;
  readonly params: Params;
  readonly result: Result;
  /** Wire names of this endpoint alone that differ from the dialect's table. */
  readonly fields?: { readonly documented?: FieldNames; readonly live?: FieldNames };
  /** The page of the exchange's public documents that describes the endpoint, and the day it was read. */
  readonly source: { readonly url: string; readonly readOn: string };
}

export type ParamsOf<E extends Endpoint> = z.input<E['params']>;
export type ResultOf<E extends Endpoint> = z.output<E['result']>;

/** Checks the shape of an endpoint and keeps the types of its schemas. */
export function defineEndpoint<Params extends z.ZodMiniType, Result extends z.ZodMiniType>(
  endpoint: Endpoint<Params, Result>,
): Endpoint<Params, Result> {
  return endpoint;
}
