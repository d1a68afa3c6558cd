/**
 * How far the exchange's lists may lag behind what happened. Nobody publishes it: independent clients saw seconds, and
 * these are the times that the relay assumes.
 */

/** After this time every list shows an order that was placed, and how it ended. */
export const longestLagMs = 10 * 60_000;

/** After this time the list of open orders is taken to show an order that was answered. Until then it is counted in any case. */
export const longestOrderLagMs = 60_000;

/** After this time a reading of the positions is taken to show every fill that was answered before it began. */
export const longestPositionLagMs = 10_000;

/** How far back the relay asks for what is listed: the exchange reaches back 31 days. */
export const farthestBackMs = 30 * 24 * 3_600_000;
