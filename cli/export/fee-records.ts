import type { CurrencyFees, FeeEpoch, FeeTerms } from '../../lib/snapshots/snapshot-store.ts';
import { formatSecond } from '../show/print.ts';
import type { CsvCell } from './csv.ts';

const termTitles = ['min fee', 'max fee', 'per cent', 'fixed', 'min amount', 'max amount'] as const;

/** The CSV columns of transfer fees. The terms of a currency that is no longer listed are empty. */
export const feeTitles: readonly string[] = [
  'ticker',
  'from (UTC)',
  'until (UTC)',
  'listed',
  ...['deposit', 'withdraw'].flatMap((way) => [
    `${way} open`,
    ...termTitles.map((title) => `${way} ${title}`),
  ]),
];

export function feeRecordOf({ ticker, fromMs, untilMs, fees }: FeeEpoch): readonly CsvCell[] {
  return [
    ticker,
    formatSecond(fromMs),
    untilMs === null ? null : formatSecond(untilMs),
    yesOrNo(fees !== null),
    ...feeCells(fees),
  ];
}

function feeCells(fees: CurrencyFees | null): readonly CsvCell[] {
  if (fees === null) return Array.from({ length: 2 * (1 + termTitles.length) }, () => null);
  const { canDeposit, canWithdraw, deposit, withdraw } = fees;
  return [yesOrNo(canDeposit), ...termCells(deposit), yesOrNo(canWithdraw), ...termCells(withdraw)];
}

function termCells(terms: FeeTerms): readonly CsvCell[] {
  const { minFlex, maxFlex, percentFlex, fixed, minAmount, maxAmount } = terms;
  return [minFlex, maxFlex, percentFlex, fixed, minAmount, maxAmount];
}

function yesOrNo(is: boolean): string {
  return is ? 'yes' : 'no';
}
