/** What commands of the tool say with `--json`, as far as the page shows it. Decimals are text, times are milliseconds. */

export interface GuardShown {
  readonly of: string;
  readonly role: 'stop_loss' | 'take_profit';
  readonly part?: number;
  readonly price: string | null;
  readonly amount: string;
  readonly state: 'standing' | 'missing' | 'changing' | 'ended' | 'unread' | 'by_hand';
  readonly standing: readonly {
    readonly orderId: number;
    readonly price: string | null;
    readonly amount: string | null;
  }[];
}

/** A position of `relay positions --json`. */
export interface PositionShown {
  readonly positionId: number;
  readonly market: string;
  readonly amount: string;
  readonly basePrice: string | null;
  readonly positionSide: 'BOTH' | 'LONG' | 'SHORT';
  readonly floatingProfit: string | null;
  readonly realisedProfit: string | null;
  readonly liquidationPrice: string | null;
  readonly liquidationState: string | null;
  readonly lastPrice: string | null;
  readonly strategies: readonly string[];
  readonly stops: readonly unknown[];
  readonly targets: readonly unknown[];
  readonly isStopAwaited: boolean;
  readonly protection: { readonly guards: readonly GuardShown[]; readonly byHand: string } | null;
}

export interface PositionsDocument {
  readonly account: string;
  readonly readAtMs: number;
  readonly positions: readonly PositionShown[];
  readonly unknown: readonly string[];
  readonly failure: string | null;
}
