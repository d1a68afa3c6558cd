import { describeSeen, type SeenPosition } from '../../account/seen-position.ts';
import { type Json, toJson } from '../../base/json.ts';
import type { PositionOrder } from '../../model/step-facts.ts';
import { changeAction, type Plan } from '../execute/action.ts';

/** What a plan depends on, stored before its order is sent. */
export interface PositionBasis {
  readonly position: SeenPosition;
  readonly readAtMs: number;
  /** The ids of the exits that the list showed beside it; absent: of an order that closes none. */
  readonly attached?: readonly number[];
  /** The order of a position signal: lookups compare with it. */
  readonly order?: PositionOrder;
}

/** Adds the position to the evidence, and its age to that of what the order was sized on. */
export function withPosition(plan: Plan, { position, readAtMs, order, attached = [] }: PositionBasis): Plan {
  const added = {
    position: { ...describeSeen(position), ...(attached.length === 0 ? {} : { attached }) },
    ...(order === undefined ? {} : { positionOrder: order }),
  };
  const join = (evidence: Json | undefined) => toJson({ ...Object(evidence ?? {}), ...added });
  if (plan.verdict === 'denied') return { ...plan, evidence: join(plan.evidence) };
  return changeAction(plan, ({ evidence, facts, readAtMs: sizedAtMs = readAtMs }) => ({
    evidence: join(evidence),
    facts: { ...facts, ...added },
    readAtMs: Math.min(readAtMs, sizedAtMs),
  }));
}
