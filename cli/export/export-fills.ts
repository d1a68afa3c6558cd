import { type Executions, listSignalFills } from '../../lib/ledger/executions.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import type { Fill } from '../../lib/model/execution.ts';
import { currenciesInName } from '../../lib/model/market.ts';
import { findAccount, type Settings } from '../../lib/model/settings.ts';
import { escapeText } from '../../lib/signals/issues.ts';
import type { Period } from '../../lib/snapshots/snapshot-store.ts';
import type { CsvCell } from './csv.ts';
import { amountCell, type ExportRows } from './export-rows.ts';

export interface FillSources {
  readonly ledger: Pick<Ledger, 'read'>;
  readonly executions: Pick<Executions, 'listFills'>;
  readonly settings: Settings;
}

const titles = [
  ...[
    'time (UTC)',
    'type',
    'market',
    'base currency',
    'quote currency',
    'side',
    'amount',
    'price',
    'notional',
  ],
  ...['fee', 'fee currency', 'liquidity', 'order id', 'deal id', 'signal id', 'strategy', 'account'],
];

/**
 * The fills of orders of the relay, and of the stop-losses and take-profits that the exchange made from them: account by
 * account, oldest first.
 */
export function exportFills(sources: FillSources, accounts: readonly string[], period: Period): ExportRows {
  async function* list(): AsyncGenerator<NamedFill> {
    for (const account of accounts) {
      const strategies = new Map<string, string | null>();
      for await (const fill of listSignalFills(sources.executions, account, period.fromMs, period.untilMs)) {
        if (!strategies.has(fill.signalId))
          strategies.set(fill.signalId, await readStrategy(sources.ledger, fill));
        yield { ...fill, strategy: strategies.get(fill.signalId) ?? null };
      }
    }
  }
  return {
    async *records() {
      yield titles;
      for await (const fill of list()) yield recordOf(fill, sources.settings);
    },
    documents: list,
  };
}

interface NamedFill extends Omit<Fill, 'strategy'> {
  readonly strategy: string | null;
}

async function readStrategy(
  ledger: Pick<Ledger, 'read'>,
  { account, signalId }: Fill,
): Promise<string | null> {
  const entry = await ledger.read({ account, signalId });
  return entry?.signal?.strategy ?? null;
}

function recordOf(fill: NamedFill, settings: Settings): readonly CsvCell[] {
  const { account, market } = fill;
  const { base, quote } = currenciesInName(market);
  return [
    new Date(fill.atMs).toISOString(),
    // Empty for a market that the account no longer trades.
    findAccount(settings, account)?.markets[market]?.tradesOn ?? null,
    market,
    base,
    quote,
    fill.side,
    amountCell(fill.amount),
    amountCell(fill.price),
    amountCell(fill.notional),
    amountCell(fill.fee),
    fill.feeAsset,
    fill.liquidity,
    fill.orderId,
    fill.dealId,
    fill.signalId,
    escapeText(fill.strategy ?? ''),
    account,
  ];
}
