import { readDealsState } from '../../lib/account/account-deals.ts';
import { type Decimal, zero } from '../../lib/base/decimal.ts';
import { isFillOnSpot } from '../../lib/model/cost-books.ts';
import { readReport } from '../../lib/reports/read-report.ts';
import { Process } from './process.ts';
import { toolsOf } from './relay-handlers.ts';
import type { SimulatedWorld } from './simulated-world.ts';

/** What `relay report` says of an account at the end of a run. */
export interface ReportedProfit {
  /** On margin and futures. */
  readonly net: Decimal;
  /** Whether it says itself that it leaves nothing out there. */
  readonly isWhole: boolean;
  /** On spot, by market. */
  readonly spot: ReadonlyMap<string, ReportedSales>;
}

export interface ReportedSales {
  readonly net: Decimal;
  /** What was sold of what no order of the relay had bought, in base units. */
  readonly unmatched: Decimal;
}

/** By account. */
export async function readProfits(world: SimulatedWorld): Promise<ReadonlyMap<string, ReportedProfit>> {
  const { ledger, facts, mutation, settings } = world;
  const tools = toolsOf({ world, process: new Process(world.stage, 'operator', 0) }, 'resolve');
  const executions = mutation.executions?.(world.executions, tools) ?? world.executions;
  const isSpot = (account: string, market: string) =>
    settings.accounts[account]?.markets[market]?.tradesOn === 'spot';
  const firstOf = async (account: string) => (await readDealsState(facts, account))?.first ?? null;
  const profits = new Map<string, ReportedProfit>();
  for (const account of Object.keys(settings.accounts)) {
    let net = zero;
    const spot = new Map<string, ReportedSales>();
    const { caveats } = await readReport(
      { ledger, executions, isSpot, firstOf },
      { accounts: [account], fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER, by: 'market', dayOf: () => '' },
      ({ fill, net: ofDeal, unmatched }) => {
        const { market } = fill;
        if (!isFillOnSpot(fill, () => isSpot(account, market))) {
          net = net.plus(ofDeal);
          return;
        }
        const before = spot.get(market) ?? { net: zero, unmatched: zero };
        spot.set(market, {
          net: before.net.plus(ofDeal),
          unmatched: before.unmatched.plus(unmatched),
        });
      },
    );
    const isWhole = Object.keys(caveats.unmatched).every((market) => isSpot(account, market));
    profits.set(account, { net, isWhole, spot });
  }
  return profits;
}
