import * as z from 'zod';
import type { Random } from '../../base/random.ts';
import type { Dialect } from '../../exchange/dialect.ts';
import type { Endpoint } from '../../exchange/endpoint.ts';
import { type FaultEffect, type FaultKind, type FaultRow, faultKinds, faultRows } from './fault-rows.ts';

/** A fault to inject. It affects `count` requests, or requests by chance until it is cleared. */
export interface FaultRequest {
  readonly fault: FaultKind;
  /**
   * The only endpoint it affects; absent: every endpoint it can affect. `down` always stops the whole server.
   */
  readonly endpoint?: string;
  /** Absent: 1. */
  readonly count?: number;
  /** From 0 to 1, per request; used instead of a count. */
  readonly probability?: number;
  /** For `delay`: how late the response is. For `read_lag`: how far the lists lag behind. */
  readonly delayMs?: number;
  /** For `down`. */
  readonly durationMs?: number;
}

/** An injected fault that is still active. */
export interface FaultView {
  readonly id: number;
  readonly fault: FaultKind;
  /** Null: every endpoint it can affect. */
  readonly endpoint: string | null;
  /** How many more requests it affects; null: by chance. */
  readonly remaining: number | null;
  readonly probability: number | null;
  readonly delayMs: number | null;
  readonly durationMs: number | null;
  /** How many requests it has affected. */
  readonly struck: number;
}

const longestMs = 86_400_000;
const DurationField = z.int().min(1).max(longestMs).exactOptional();

const FaultRequestSchema = z.strictObject({
  fault: z.enum(faultKinds as [FaultKind, ...FaultKind[]]),
  endpoint: z.string().exactOptional(),
  count: z.int().min(1).max(1_000_000).exactOptional(),
  probability: z.number().min(0).max(1).exactOptional(),
  delayMs: DurationField,
  durationMs: DurationField,
});

/**
 * Reads a fault request from code or from HTTP.
 *
 * @throws RangeError that names the validation issue
 */
export function parseFaultRequest(input: unknown, endpointNames: readonly string[]): FaultRequest {
  const parsed = FaultRequestSchema.safeParse(input);
  if (!parsed.success) throw new RangeError(z.prettifyError(parsed.error));
  const issue = findIssue(parsed.data, endpointNames);
  if (issue !== null) throw new RangeError(issue);
  return parsed.data;
}

function findIssue(request: FaultRequest, endpointNames: readonly string[]): string | null {
  const { fault, endpoint } = request;
  const { needs, when, only }: FaultRow = faultRows[fault];
  if (endpoint !== undefined && !endpointNames.includes(endpoint))
    return `"${endpoint}" is no endpoint; it is one of ${endpointNames.join(', ')}`;
  if (endpoint !== undefined && only?.includes(endpoint) === false)
    return `fault "${fault}" cannot strike "${endpoint}"; it strikes ${only.join(', ')}`;
  if (request.count !== undefined && request.probability !== undefined)
    return 'a fault strikes either "count" times or with a "probability": give one of them';
  for (const field of ['delayMs', 'durationMs'] as const) {
    if (needs === field && request[field] === undefined) return `fault "${fault}" needs "${field}"`;
    if (needs !== field && request[field] !== undefined) return `fault "${fault}" takes no "${field}"`;
  }
  const countless = request.count === undefined && request.probability === undefined;
  return when === 'at_once' && !countless
    ? `fault "${fault}" strikes at once: it takes neither "count" nor "probability"`
    : null;
}

/** The effect of a fault on one request. */
export interface Strike {
  readonly when: 'before' | 'during' | 'after';
  readonly effect: FaultEffect;
  readonly delayMs: number;
}

/** The active faults. */
export interface FaultBox {
  add(request: FaultRequest): FaultView;
  remove(id: number): void;
  clear(): void;
  list(): readonly FaultView[];
  /** The first fault that affects this request, which is counted; null if none does. */
  strike(
    endpoint: Pick<Endpoint, 'name' | 'access'>,
    fields?: Readonly<Record<string, unknown>>,
  ): Strike | null;
}

/** @param dialect of the refusals that faults respond with */
export function createFaultBox(random: Random, dialect: Dialect): FaultBox {
  let faults: FaultView[] = [];
  let nextId = 1;

  function count(fault: FaultView): void {
    const remaining = fault.remaining === null ? null : fault.remaining - 1;
    const counted = { ...fault, remaining, struck: fault.struck + 1 };
    faults = faults.flatMap((other) => (other.id !== fault.id ? other : remaining === 0 ? [] : counted));
  }

  return {
    add(request) {
      const view = viewOf(request, nextId);
      nextId += 1;
      faults = [...faults, view];
      return view;
    },
    remove(id) {
      faults = faults.filter((fault) => fault.id !== id);
    },
    clear() {
      faults = [];
    },
    list: () => faults,
    strike({ name, access }, fields = {}) {
      for (const fault of faults) {
        const { when, effect, only = [name], isMeant }: FaultRow = faultRows[fault.fault];
        if (when === 'at_once' || !only.includes(name) || isMeant?.(fields) === false) continue;
        if (fault.endpoint !== null && fault.endpoint !== name) continue;
        if (fault.probability !== null && random() >= fault.probability) continue;
        count(fault);
        return { when, effect: effect({ dialect, access }), delayMs: fault.delayMs ?? 0 };
      }
      return null;
    },
  };
}

function viewOf(request: FaultRequest, id: number): FaultView {
  const { fault, endpoint, count, probability, delayMs, durationMs } = request;
  return {
    id,
    fault,
    endpoint: faultRows[fault].when === 'at_once' ? null : (endpoint ?? null),
    remaining: probability === undefined ? (count ?? 1) : null,
    probability: probability ?? null,
    delayMs: delayMs ?? null,
    durationMs: durationMs ?? null,
    struck: 0,
  };
}
