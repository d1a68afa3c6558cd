import { hash, timingSafeEqual } from 'node:crypto';

/**
 * Two tokens are live during a rotation. Fewer are padded to this number, so that timing does not show their
 * count.
 */
const fewestComparisons = 2;

/**
 * Whether the presented token is one of the live ones.
 *
 * Its duration does not reveal how much of a token was right, which token matched, or whether the account
 * exists: an unknown account has no tokens and costs the same work as a known one.
 *
 * @param liveTokens usually none to two: the current token and the one it replaces
 */
export function checkToken(presented: string, liveTokens: readonly string[]): boolean {
  const presentedDigest = digestOf(presented);
  const comparisons = Math.max(fewestComparisons, liveTokens.length);
  let isLive = false;
  for (let index = 0; index < comparisons; index += 1) {
    const token = liveTokens[index] ?? '';
    const isEqual = timingSafeEqual(presentedDigest, digestOf(token));
    // An empty token never matches, not even another empty token.
    isLive = (isEqual && token !== '') || isLive;
  }
  return isLive;
}

/** The constant-time comparison needs inputs of equal length, which digests have. */
function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
