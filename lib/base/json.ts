/** What JSON can hold; decimals travel as text. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The value as JSON would carry it: decimals become plain text, absent fields disappear. */
export function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
