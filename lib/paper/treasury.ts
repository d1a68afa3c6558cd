import { type Decimal, formatDecimal, parseDecimal, zero } from '../base/decimal.ts';
import {
  feeRecords,
  interestPaymentRecords,
  type PaperFeeRecord,
  type PaperFeeTerms,
  type PaperInterestPayment,
  paperAccounts,
} from './accounts.ts';

/** What the exchange knows beside trading. Commands change it in place; nothing else does. */
export interface Treasury {
  /** Account → ticker → main balance. Orders never touch it. */
  readonly main: Map<string, Map<string, Decimal>>;
  /** Ticker → what moving it costs. */
  readonly fees: Map<string, PaperFeeRecord>;
  /** Partner account → its interest payments, newest first. */
  readonly payments: Map<string, PaperInterestPayment[]>;
}

export interface SetBalanceCommand {
  readonly kind: 'set_balance';
  readonly atMs: number;
  readonly account: string;
  readonly ticker: string;
  readonly amount: Decimal;
}

/** Changes what is named and leaves the rest. */
export interface FeeTermsChange {
  readonly canDeposit?: boolean | undefined;
  readonly canWithdraw?: boolean | undefined;
  readonly deposit?: Readonly<Partial<Record<keyof PaperFeeTerms, string | undefined>>> | undefined;
  readonly withdraw?: Readonly<Partial<Record<keyof PaperFeeTerms, string | undefined>>> | undefined;
}

export interface SetFeeCommand {
  readonly kind: 'set_fee';
  readonly atMs: number;
  readonly ticker: string;
  readonly change: FeeTermsChange;
}

export interface PayInterestCommand {
  readonly kind: 'pay_interest';
  readonly atMs: number;
  readonly account: string;
  readonly payment: PaperInterestPayment;
}

export type TreasuryCommand = SetBalanceCommand | SetFeeCommand | PayInterestCommand;

export function createTreasury(): Treasury {
  return {
    main: new Map(paperAccounts.map(({ name, main }) => [name, parseAmounts(main)])),
    fees: new Map(feeRecords.map((record) => [record.ticker, record])),
    payments: new Map(
      paperAccounts
        .filter(({ isPartner }) => isPartner)
        .map(({ name }) => [name, [...interestPaymentRecords]]),
    ),
  };
}

function parseAmounts(amounts: Readonly<Record<string, string>>): Map<string, Decimal> {
  return new Map(Object.entries(amounts).map(([ticker, amount]) => [ticker, parseDecimal(amount)]));
}

/** @throws RangeError for an account or ticker the exchange does not have, or an amount that cannot be */
export function applyTreasuryCommand(treasury: Treasury, command: TreasuryCommand): void {
  switch (command.kind) {
    case 'set_balance':
      setBalance(treasury, command);
      break;
    case 'set_fee':
      setFee(treasury, command);
      break;
    case 'pay_interest':
      payInterest(treasury, command);
      break;
  }
}

function setBalance({ main }: Treasury, { account, ticker, amount }: SetBalanceCommand): void {
  if (amount.lt(zero)) throw new RangeError(`a balance must not be below 0; ${formatDecimal(amount)} is`);
  const balances = main.get(account);
  if (balances === undefined) throw unknownAccount(account, main);
  // The service leaves out what is not held.
  if (amount.eq(zero)) balances.delete(ticker);
  else balances.set(ticker, amount);
}

function setFee({ fees }: Treasury, { ticker, change }: SetFeeCommand): void {
  const record = fees.get(ticker);
  if (record === undefined)
    throw new RangeError(
      `the paper exchange has no currency "${ticker}"; it has ${[...fees.keys()].join(', ')}`,
    );
  fees.set(ticker, {
    ...record,
    canDeposit: change.canDeposit ?? record.canDeposit,
    canWithdraw: change.canWithdraw ?? record.canWithdraw,
    deposit: changeTerms(record.deposit, change.deposit),
    withdraw: changeTerms(record.withdraw, change.withdraw),
  });
}

function changeTerms(terms: PaperFeeTerms, change: FeeTermsChange['deposit'] = {}): PaperFeeTerms {
  return {
    minFlex: change.minFlex ?? terms.minFlex,
    maxFlex: change.maxFlex ?? terms.maxFlex,
    percentFlex: change.percentFlex ?? terms.percentFlex,
    fixed: change.fixed ?? terms.fixed,
    minAmount: change.minAmount ?? terms.minAmount,
    maxAmount: change.maxAmount ?? terms.maxAmount,
  };
}

function payInterest({ payments }: Treasury, { account, payment }: PayInterestCommand): void {
  const paid = payments.get(account);
  if (paid === undefined) throw unknownAccount(account, payments, 'partner ');
  // A payment may be entered with a time that is past.
  const index = paid.findIndex(({ timestamp }) => timestamp <= payment.timestamp);
  paid.splice(index < 0 ? paid.length : index, 0, payment);
}

function unknownAccount(account: string, known: ReadonlyMap<string, unknown>, kind = ''): RangeError {
  const names = [...known.keys()].join(', ');
  return new RangeError(`the paper exchange has no ${kind}account "${account}"; it has ${names}`);
}
