import { type Decimal, formatDecimal, parseDecimal, zero } from '../../base/decimal.ts';
import {
  feeRecords,
  interestPaymentRecords,
  type PaperFeeRecord,
  type PaperFeeTerms,
  type PaperInterestPayment,
  paperAccounts,
} from './accounts.ts';

/**
 * The state behind the main-account endpoints, which orders never change. Only commands change it, in place.
 */
export interface MainAccountState {
  /** Account → ticker → main balance. */
  readonly balances: Map<string, Map<string, Decimal>>;
  /** Ticker → transfer fees. */
  readonly transferFees: Map<string, PaperFeeRecord>;
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

/** Changes the given terms and keeps the others. */
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

export type MainAccountCommand = SetBalanceCommand | SetFeeCommand | PayInterestCommand;

export function createMainAccountState(): MainAccountState {
  return {
    balances: new Map(paperAccounts.map(({ name, main }) => [name, parseAmounts(main)])),
    transferFees: new Map(feeRecords.map((record) => [record.ticker, record])),
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

/** @throws RangeError for an account or ticker that the exchange does not have, or a negative balance */
export function applyMainAccountCommand(mainAccount: MainAccountState, command: MainAccountCommand): void {
  switch (command.kind) {
    case 'set_balance':
      setBalance(mainAccount, command);
      break;
    case 'set_fee':
      setFee(mainAccount, command);
      break;
    case 'pay_interest':
      payInterest(mainAccount, command);
      break;
  }
}

function setBalance({ balances }: MainAccountState, { account, ticker, amount }: SetBalanceCommand): void {
  if (amount.lt(zero)) throw new RangeError(`a balance must not be below 0; ${formatDecimal(amount)} is`);
  const ofAccount = balances.get(account);
  if (ofAccount === undefined) throw unknownAccount(account, balances);
  // The service omits currencies without a balance.
  if (amount.eq(zero)) ofAccount.delete(ticker);
  else ofAccount.set(ticker, amount);
}

function setFee({ transferFees }: MainAccountState, { ticker, change }: SetFeeCommand): void {
  const record = transferFees.get(ticker);
  if (record === undefined)
    throw new RangeError(
      `the paper exchange has no currency "${ticker}"; it has ${[...transferFees.keys()].join(', ')}`,
    );
  transferFees.set(ticker, {
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

function payInterest({ payments }: MainAccountState, { account, payment }: PayInterestCommand): void {
  const paid = payments.get(account);
  if (paid === undefined) throw unknownAccount(account, payments, 'partner ');
  // A payment may have an earlier time than those that are already in the list.
  const index = paid.findIndex(({ timestamp }) => timestamp <= payment.timestamp);
  paid.splice(index < 0 ? paid.length : index, 0, payment);
}

function unknownAccount(account: string, known: ReadonlyMap<string, unknown>, kind = ''): RangeError {
  const names = [...known.keys()].join(', ');
  return new RangeError(`the paper exchange has no ${kind}account "${account}"; it has ${names}`);
}
