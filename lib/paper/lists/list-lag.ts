import type { RequestContext } from '../requests/request-context.ts';

/**
 * Whether the lists already show an event of that time.
 *
 * An order that ends leaves the open list at once and enters the ended list late. Of all kinds of lag this
 * one is the hardest for a reader, because the order is in neither list meanwhile.
 */
export function hasComeThrough({ atMs, lagMs }: RequestContext, eventMs: number): boolean {
  // When the clock was set back, lists without lag must still show everything.
  return Math.max(0, atMs - eventMs) >= lagMs;
}
