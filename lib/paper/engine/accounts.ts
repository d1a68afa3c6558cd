import { formatDecimal, parseDecimal, stepOfPlaces } from '../../base/decimal.ts';
import { createRandom } from '../../base/random.ts';
import type { Credentials } from '../../exchange/client.ts';

/** An API key of the paper exchange and its permissions. */
export interface PaperKey {
  readonly apiSecret: string;
  readonly account: string;
  /** A disabled key is refused with the live service's error for disabled keys. */
  readonly enabled: boolean;
  /** False: creating and cancelling orders is refused. */
  readonly mayTrade: boolean;
}

/** The keys are public on purpose: they are valid only on this machine's paper exchange. */
export const paperKeys: ReadonlyMap<string, PaperKey> = new Map([
  ['paper-key', { apiSecret: 'paper-secret', account: 'main', enabled: true, mayTrade: true }],
  ['paper-key-2', { apiSecret: 'paper-secret-2', account: 'second', enabled: true, mayTrade: true }],
  ['paper-key-3', { apiSecret: 'paper-secret-3', account: 'second', enabled: false, mayTrade: true }],
  ['paper-key-4', { apiSecret: 'paper-secret-4', account: 'main', enabled: true, mayTrade: false }],
]);

/**
 * The account `main` gets the key of the paper exchange's partner account, every other account that of its
 * second one.
 */
export function paperKeysOf(account: string): Credentials {
  return account === 'main'
    ? { apiKey: 'paper-key', apiSecret: 'paper-secret' }
    : { apiKey: 'paper-key-2', apiSecret: 'paper-secret-2' };
}

/** Why the paper exchange refuses a key, or the orders that it signs; null when it takes both. */
export function explainPaperRefusal({ apiKey, apiSecret }: Credentials): string | null {
  const key = paperKeys.get(apiKey);
  if (key === undefined) return 'it does not know the key';
  if (key.apiSecret !== apiSecret) return 'the secret does not belong to the key';
  if (!key.enabled) return 'the key is disabled';
  return key.mayTrade ? null : 'the key may read, but may not place orders';
}

/** The key of an account, in words for its owner. */
export function describePaperKey(account: string): string {
  const { apiKey, apiSecret } = paperKeysOf(account);
  return `${apiKey}, with the secret ${apiSecret}`;
}

export interface PaperAccount {
  readonly name: string;
  /** Only business partners may read interest payments. */
  readonly isPartner: boolean;
  /** Ticker → initial main balance. Orders never change it. */
  readonly main: Readonly<Record<string, string>>;
  /** Ticker → initial trade balance. Spot orders reserve and spend it. */
  readonly spot: Readonly<Record<string, string>>;
  /** Ticker → initial collateral balance, which backs the positions on margin pairs and perpetuals. */
  readonly collateral: Readonly<Record<string, string>>;
}

const spot = { USDT: '1000000', BTC: '10', ETH: '100', SOL: '1000', DUSDT: '1000000', DBTC: '10' };
const collateral = { USDT: '1000000', BTC: '10', ETH: '100', SOL: '1000' };

export const paperAccounts: readonly PaperAccount[] = [
  {
    name: 'main',
    isPartner: true,
    main: { BTC: '1.25', ETH: '20', SOL: '0.5', USDT: '25000.75' },
    spot,
    collateral,
  },
  { name: 'second', isPartner: false, main: { USDT: '500' }, spot, collateral },
];

export type PaperFeeTerms = Readonly<
  Record<'minFlex' | 'maxFlex' | 'percentFlex' | 'fixed' | 'minAmount' | 'maxAmount', string>
>;

function fixedFee(fixed: string, minAmount: string, maxAmount: string): PaperFeeTerms {
  return { minFlex: '0', maxFlex: '0', percentFlex: '0', fixed, minAmount, maxAmount };
}

function flexibleFee(
  minFlex: string,
  maxFlex: string,
  percentFlex: string,
  minAmount: string,
): PaperFeeTerms {
  return { minFlex, maxFlex, percentFlex, fixed: '0', minAmount, maxAmount: '0' };
}

/** The transfer fees of one currency. */
export interface PaperFeeRecord {
  readonly ticker: string;
  readonly name: string;
  readonly canDeposit: boolean;
  readonly canWithdraw: boolean;
  readonly deposit: PaperFeeTerms;
  readonly withdraw: PaperFeeTerms;
}

function feeRecord(
  ticker: string,
  name: string,
  withdraw: PaperFeeTerms,
  canWithdraw = true,
): PaperFeeRecord {
  return {
    ticker,
    name,
    canDeposit: true,
    canWithdraw,
    deposit: fixedFee('0', withdraw.minAmount, '0'),
    withdraw,
  };
}

/** The initial transfer fees, one record per currency. */
export const feeRecords: readonly PaperFeeRecord[] = [
  feeRecord('BTC', 'Bitcoin', fixedFee('0.0004', '0.001', '50')),
  feeRecord('ETH', 'Ethereum', fixedFee('0.002', '0.01', '1000')),
  feeRecord('SOL', 'Solana', fixedFee('0.01', '0.1', '0')),
  feeRecord('USDT', 'Tether US', flexibleFee('1', '50', '0.1', '5')),
  feeRecord('UAH', 'Hryvnia', flexibleFee('10', '500', '1.5', '100'), false),
];

export interface PaperInterestPayment {
  readonly planId: string;
  readonly investmentId: string;
  readonly amount: string;
  readonly ticker: string;
  /** Whole seconds since 1970. */
  readonly timestamp: number;
}

const plans = [
  {
    planId: '1b7c3a5e-0d52-4c3f-9a41-6f0d2f6f1a01',
    investmentId: '5e2f9d10-7a44-4b1e-8f3a-2c9b6d8e4101',
    ticker: 'USDT',
    places: 2,
  },
  {
    planId: '1b7c3a5e-0d52-4c3f-9a41-6f0d2f6f1a02',
    investmentId: '5e2f9d10-7a44-4b1e-8f3a-2c9b6d8e4102',
    ticker: 'USDT',
    places: 2,
  },
  {
    planId: '1b7c3a5e-0d52-4c3f-9a41-6f0d2f6f1a03',
    investmentId: '5e2f9d10-7a44-4b1e-8f3a-2c9b6d8e4103',
    ticker: 'BTC',
    places: 8,
  },
] as const;

const paymentCount = 250;
const firstPaymentSeconds = Date.UTC(2026, 0, 1) / 1000;
const secondsBetweenPayments = 8 * 3600;

/** The partner's initial interest payments, newest first: one every eight hours, the plans in turn. */
export const interestPaymentRecords: readonly PaperInterestPayment[] = createPayments();

function createPayments(): PaperInterestPayment[] {
  const random = createRandom(2026);
  const payments = Array.from({ length: paymentCount }, (_, index) => {
    const plan = plans[index % plans.length] ?? plans[0];
    const units = parseDecimal(String(1 + Math.floor(random() * 5000)));
    return {
      planId: plan.planId,
      investmentId: plan.investmentId,
      amount: formatDecimal(units.times(stepOfPlaces(plan.places))),
      ticker: plan.ticker,
      timestamp: firstPaymentSeconds + index * secondsBetweenPayments,
    };
  });
  return payments.reverse();
}
