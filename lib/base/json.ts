/** A JSON value; decimals are stored as text. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Converts the value to JSON: decimals become plain text, and fields that are undefined are dropped. */
export function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
