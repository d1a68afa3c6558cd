import type * as z from 'zod';

/** The model's word → the word on the wire; what is not named is the same. */
export type FieldNames = Readonly<Record<string, string>>;

/**
 * One operation of the exchange, as a value: the client, the paper exchange, the CLI and the tests all read this
 * one description.
 *
 * Parameters and results speak the model's words (camelCase); a dialect renames them on the wire.
 */
export interface Endpoint<Params extends z.ZodType = z.ZodType, Result extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  /** From `/api/v4` on, per dialect. */
  readonly path: { readonly documented: string; readonly live: string };
  readonly access: 'public' | 'private';
  /** `live-only`: the live service has it, the written API does not. It speaks live words in every dialect. */
  readonly availability: 'documented' | 'live-only';
  /** Whether a second sending does no harm. A create that answers late has happened all the same. */
  readonly repeatable: boolean;
  /** Requests per address in any 10 seconds. */
  readonly requestsPer10s: number;
  readonly params: Params;
  readonly result: Result;
  /** Names that differ from the dialect's own table, at this endpoint alone. */
  readonly fields?: { readonly documented?: FieldNames; readonly live?: FieldNames };
  /** The page of the exchange's public documents that the facts come from, and the day it was read. */
  readonly source: { readonly url: string; readonly readOn: string };
}

export type ParamsOf<E extends Endpoint> = z.input<E['params']>;
export type ResultOf<E extends Endpoint> = z.output<E['result']>;

/** Keeps the schemas' types while checking the shape. */
export function defineEndpoint<Params extends z.ZodType, Result extends z.ZodType>(
  endpoint: Endpoint<Params, Result>,
): Endpoint<Params, Result> {
  return endpoint;
}
