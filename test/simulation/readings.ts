import { collateralSummary } from '../../lib/exchange/endpoints/collateral-summary.ts';
import { futures } from '../../lib/exchange/endpoints/futures.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { orderBook } from '../../lib/exchange/endpoints/order-book.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import type { History, WireSend } from './history.ts';

/** What an order can be sized or priced on. */
export type ReadingName = 'book' | 'futures' | 'summary' | 'spot' | 'positions';

const bookPath = orderBook.path.live.replace('{market}', '');
const paths: Readonly<Record<Exclude<ReadingName, 'book'>, string>> = {
  futures: futures.path.live,
  summary: collateralSummary.path.live,
  spot: tradeBalance.path.live,
  positions: openPositions.path.live,
};

/** Whether the request is a public one that an order can be priced or sized on. */
export function isPublicReading(path: string): boolean {
  return path.startsWith(bookPath) || path === paths.futures;
}

/** No order may be sent on readings that are older than this. */
const longestReadingMs = 5000;

/**
 * The responses of the wire that an order may be sized or priced on: of the same invocation, begun at most 5 s before
 * on the relay's own clock, in the market of the order, and signed with the key of its account. A reading begins with its
 * first attempt, also when the clock is set back before the last one.
 */
export function readingsFor(
  { sends }: Pick<History, 'sends'>,
  create: WireSend,
  market: string,
  name: ReadingName,
): readonly unknown[] {
  const attempts = sends
    .slice(0, sends.indexOf(create))
    .filter((send) => send.invocation === create.invocation && isOf(send, create, market, name));
  const first = attempts.findIndex(({ relayNowMs }) => create.relayNowMs - relayNowMs <= longestReadingMs);
  return attempts
    .slice(first === -1 ? attempts.length : first)
    .flatMap(({ outcome }) =>
      outcome?.kind === 'answered' && outcome.status === 200 ? parseBody(outcome.body) : [],
    );
}

function isOf({ path, signer }: WireSend, create: WireSend, market: string, name: ReadingName): boolean {
  if (name === 'book') return path.split('?')[0] === `${bookPath}${market}`;
  if (path !== paths[name]) return false;
  return name === 'futures' || signer === create.signer;
}

/** No body, or one: a page of a gateway is no JSON, and nothing can be read from it. */
function parseBody(body: string): readonly unknown[] {
  try {
    return [JSON.parse(body)];
  } catch {
    return [];
  }
}
