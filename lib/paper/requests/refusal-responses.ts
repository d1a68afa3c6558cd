import type { Dialect } from '../../exchange/dialect.ts';
import type { Endpoint } from '../../exchange/endpoint.ts';
import { type Refusal, type RefusalName, type RefusalRow, refusalTable } from '../engine/refusals.ts';

type Refusals = readonly [Refusal, ...Refusal[]];

/**
 * The facts that decide the form of a refusal.
 *
 * @see DECISIONS 95
 */
export interface RefusalForm {
  readonly dialect: Dialect;
  readonly access: Endpoint['access'];
}

export interface RefusalResponse {
  readonly httpStatus: number;
  /** A text is sent unchanged, null as an empty body, anything else as JSON. */
  readonly body: unknown;
}

/** The response to a request with these refusals. The first decides status and code. */
export function refusalResponse(refusals: Refusals, { dialect, access }: RefusalForm): RefusalResponse {
  const { httpStatus } = refusalTable[refusals[0].name];
  if (dialect === 'live') return { httpStatus, body: liveBody(refusals, access) };
  return { httpStatus, body: access === 'public' ? publicBody(refusals) : documentedBody(refusals) };
}

/** Refusals with an empty `errors` object. The other refusals without a key have no `errors` at all. */
const withEmptyErrors: ReadonlySet<RefusalName> = new Set<RefusalName>(['not_a_partner', 'nonce_refused']);

/** The bodies of the live service's gateway, which are not JSON. */
const gatewayBodies: ReadonlyMap<RefusalName, string | null> = new Map<RefusalName, string | null>([
  ['rate_limited', 'Too Many Requests'],
  ['path_unknown', null],
  ['body_too_large', null],
]);

function liveBody(refusals: Refusals, access: Endpoint['access']): unknown {
  const [{ name }] = refusals;
  const { code, key, text }: RefusalRow = refusalTable[name];
  if (gatewayBodies.has(name)) return gatewayBodies.get(name);
  if (key === null) return { code, message: text, ...(withEmptyErrors.has(name) ? { errors: {} } : {}) };
  const texts = collectTexts(refusals, (word) => word);
  // A public endpoint names the parameters and nothing else.
  return access === 'public' ? texts : { code, message: messageOf(code), errors: texts };
}

/**
 * In the written API a failed validation has code 30, and every private error has `errors` by parameter name.
 */
function documentedBody(refusals: Refusals): unknown {
  const { httpStatus, code: liveCode, key, text }: RefusalRow = refusalTable[refusals[0].name];
  const code = httpStatus === 422 ? 30 : liveCode;
  if (key === null) return { code, message: text, errors: {} };
  return {
    code,
    message: messageOf(code),
    errors: collectTexts(refusals, (word) => documentedKeys.get(word) ?? word),
  };
}

function publicBody([{ name }]: Refusals): unknown {
  return { success: false, message: refusalTable[name].text, params: [] };
}

/** The live service's key → the parameter name of the written API, where they differ. */
const documentedKeys: ReadonlyMap<string, string> = new Map([
  ['orderId', 'order_id'],
  ['clientOrderId', 'client_order_id'],
  ['activationPrice', 'activation_price'],
  ['total', 'amount'],
  ['hedgeMode', 'positionSide'],
]);

function messageOf(code: number): string {
  return code === 2 ? 'Inner validation failed' : 'Validation failed';
}

function collectTexts(refusals: Refusals, rename: (key: string) => string): Record<string, string[]> {
  const errors: Record<string, string[]> = {};
  for (const { name, value } of refusals) {
    const row: RefusalRow = refusalTable[name];
    const key = rename(row.key ?? '');
    const texts = errors[key] ?? [];
    texts.push(row.text.replace('{}', value ?? ''));
    errors[key] = texts;
  }
  return errors;
}
