import { hash, timingSafeEqual } from 'node:crypto';

/** Two tokens are live while one replaces the other; fewer are made up for, so that their count does not show. */
const fewestComparisons = 2;

/**
 * Whether the presented token is one of the live ones.
 *
 * The time it takes tells neither how much of a token was right, nor which matched, nor whether there was any: an
 * unknown account, with no tokens, costs the same work as a known one.
 *
 * @param liveTokens none to two as a rule: the current token and the one it replaces
 */
export function checkToken(presented: string, liveTokens: readonly string[]): boolean {
  const presentedDigest = digestOf(presented);
  const comparisons = Math.max(fewestComparisons, liveTokens.length);
  let isLive = false;
  for (let index = 0; index < comparisons; index += 1) {
    const token = liveTokens[index] ?? '';
    const isEqual = timingSafeEqual(presentedDigest, digestOf(token));
    // An empty token opens nothing, not even to an empty token.
    isLive = (isEqual && token !== '') || isLive;
  }
  return isLive;
}

/** Digests are equally long, which the constant-time comparison asks for. */
function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
