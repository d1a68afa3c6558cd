import type { Decimal } from '../base/decimal.ts';

/** One fill of an order, before it is settled. */
export interface Fill {
  /** In base units. */
  readonly amount: Decimal;
  readonly price: Decimal;
  readonly role: 'maker' | 'taker';
  readonly feeRate: Decimal;
  readonly atMs: number;
}
