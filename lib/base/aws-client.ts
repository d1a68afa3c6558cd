import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { AwsError, errorHeader, errorOf } from './aws-error.ts';
import { type Clock, systemClock } from './clock.ts';
import { isRecord, readJson } from './json.ts';
import type { Random } from './random.ts';
import type { Transport, WireOutcome } from './wire.ts';

/** @see DECISIONS 140 */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Present for a role. */
  readonly sessionToken?: string;
}

/** What all clients of a process share. */
export interface AwsAccess {
  readonly transport: Transport;
  readonly region: string;
  /** Called for every request. */
  readonly credentials: () => Promise<AwsCredentials>;
  /** Scheme, host and port of every service. Absent: those of AWS in the region. */
  readonly endpoint?: string | undefined;
  /** Of each attempt, from its start until the connection is made, and until the whole response has arrived. */
  readonly connectTimeoutMs: number;
  readonly timeoutMs: number;
  /** Absent: 3. */
  readonly maximumAttempts?: number;
  /** Absent: the system's. */
  readonly clock?: Clock;
  /** Randomises the pauses before retries. */
  readonly random?: Random;
}

/** A service that is called by its JSON protocol. */
export interface AwsService {
  /** In addresses and signatures. */
  readonly name: string;
  /** In the header of a call. */
  readonly target: string;
  readonly protocol: '1.0' | '1.1';
  /** By operation. Its answer is a JSON object in any case; only with null, it may also be empty. */
  readonly promises: Readonly<Record<string, PromisedField | null>>;
}

/** A field of an answer. */
export interface PromisedField {
  readonly field: string;
  readonly type: 'text' | 'list' | 'record';
  /** Whether the answer to this input has the field. Absent: each has it. If not, it may be missing, but is of its type. */
  readonly isDue?: (input: object) => boolean;
}

export interface AwsClient {
  /**
   * @param input JSON, in the names of the service's API
   * @returns the JSON of the response
   * @throws AwsError of the last attempt
   */
  call(operation: string, input: object): Promise<unknown>;
}

interface Result {
  readonly result: unknown;
}

const defaultAttempts = 3;
/** The longest pause before the second attempt; before the third it is twice as long. */
const longestPausesMs = { soon: 100, later: 500 } as const;

/**
 * Creates the function that signs a request to a service and sends it, once.
 *
 * @param service its name in addresses and signatures
 */
export function createSignedPost(service: string, access: AwsAccess) {
  const { clock = systemClock, connectTimeoutMs, timeoutMs } = access;
  const baseUrl = access.endpoint ?? endpointOf(service, access.region);
  const signer = new SignatureV4({
    service,
    region: access.region,
    credentials: access.credentials,
    sha256: Sha256,
    applyChecksum: false,
  });
  return async (
    headers: Readonly<Record<string, string>>,
    body: string,
    wantedHeaders: readonly string[] = [],
  ): Promise<WireOutcome> => {
    const { protocol, hostname, host } = new URL(baseUrl);
    const unsigned = {
      method: 'POST',
      protocol,
      hostname,
      path: '/',
      query: {},
      headers: { host, ...headers },
      body,
    };
    const signed = await signer.sign(unsigned, { signingDate: new Date(clock.nowMs()) });
    const { host: _, ...sent } = signed.headers;
    return await access.transport.send({
      baseUrl,
      method: 'POST',
      path: '/',
      headers: sent,
      body,
      connectTimeoutMs,
      timeoutMs,
      wantedHeaders,
    });
  };
}

/**
 * Creates the client of a service with AWS's JSON protocol.
 *
 * A request that failed for a reason that may pass is sent again; so each must be one that may arrive twice. An answer
 * that is not what the operation promises is such a failure: it proves nothing.
 *
 * @see https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html
 */
export function createAwsClient(service: AwsService, access: AwsAccess): AwsClient {
  const { clock = systemClock, random = Math.random, maximumAttempts = defaultAttempts } = access;
  const post = createSignedPost(service.name, access);

  async function attempt(operation: string, input: object, body: string): Promise<AwsError | Result> {
    const headers = {
      'content-type': `application/x-amz-json-${service.protocol}`,
      'x-amz-target': `${service.target}.${operation}`,
    };
    const outcome = await post(headers, body, [errorHeader]);
    return errorOf(outcome) ?? resultOf(outcome, service.promises[operation], input);
  }

  return {
    async call(operation, input) {
      const body = JSON.stringify(input);
      for (let attempts = 1; ; attempts += 1) {
        const outcome = await attempt(operation, input, body);
        if (!(outcome instanceof AwsError)) return outcome.result;
        if (outcome.retry === 'no' || attempts >= maximumAttempts) throw outcome;
        // The whole pause is random, so that requests that failed together do not come back together.
        await clock.sleep(random() * longestPausesMs[outcome.retry] * 2 ** (attempts - 1));
      }
    },
  };
}

/** @param promised null: the answer may be empty */
function resultOf(
  outcome: WireOutcome,
  promised: PromisedField | null | undefined,
  input: object,
): AwsError | Result {
  const body = outcome.kind === 'answered' ? outcome.body : '';
  if (body === '' && promised === null) return { result: {} };
  const result = readJson(body);
  if (isOfType.record(result) && (!promised || isKept(promised, input, result))) return { result };
  const wanted = promised ? `a JSON object with the ${promised.type} ${promised.field}` : 'a JSON object';
  return new AwsError('UnreadableResponse', `the answer is not ${wanted}`, { content: {}, retry: 'soon' });
}

function isKept({ field, type, isDue }: PromisedField, input: object, result: object): boolean {
  const value: unknown = Reflect.get(result, field);
  return value === undefined ? isDue?.(input) === false : isOfType[type](value);
}

const isOfType = {
  text: (value: unknown) => typeof value === 'string',
  list: (value: unknown) => Array.isArray(value),
  record: isRecord,
} as const;

/** The domains of regions outside the common one. @see https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html */
const otherDomains: readonly (readonly [regions: string, domain: string])[] = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
];

/** The address of a service: scheme and host. */
function endpointOf(service: string, region: string): string {
  const [, domain] = otherDomains.find(([regions]) => region.startsWith(regions)) ?? [];
  return `https://${service}.${region}.${domain ?? 'amazonaws.com'}`;
}
