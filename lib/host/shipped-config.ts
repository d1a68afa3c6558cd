import { type Decimal, parseDecimal } from '../base/decimal.ts';
import { RelayError } from '../base/errors.ts';
import { parseOwnJson } from '../base/json.ts';
import type { Account, MarketLimits, RiskLimits } from '../model/account.ts';
import type { HostConfig } from './config.ts';

/** A value after a way through JSON: its decimals are text. */
type Shipped<T> = T extends Decimal
  ? string
  : T extends object
    ? { readonly [Name in keyof T]: Shipped<T[Name]> }
    : T;

/**
 * The checked configuration as the text that the bundle of each function holds. A function
 * reads it back without the schemas, which would take longer to load than all the rest.
 *
 * @throws RangeError when a function could not read a decimal of it
 * @see DECISIONS 139
 */
export function shipConfig(config: HostConfig): string {
  const text = JSON.stringify(config);
  readShippedConfig(text);
  return text;
}

/**
 * Reads what {@link shipConfig} wrote.
 *
 * @param text null: the code that runs is no bundle
 * @throws RelayError `config_missing` when there is none
 */
export function readShippedConfig(text: string | null): HostConfig {
  if (text === null)
    throw new RelayError(
      'config_missing',
      'this function holds no configuration: only `npx cdk synth` and `npx cdk deploy` put it in',
    );
  const { settings, ...host } = parseOwnJson<Shipped<HostConfig>>(text);
  const accounts = mapValues(settings.accounts, readAccount);
  return { ...host, settings: { ...settings, accounts } };
}

function readAccount({ limits, ...account }: Shipped<Account>): Account {
  return {
    ...account,
    ...(limits === undefined ? {} : { limits: readRiskLimits(limits) }),
    limitOffsetRate: readDecimal(account.limitOffsetRate),
    maxLimitDistanceRate: readDecimal(account.maxLimitDistanceRate),
    maxSlippageRate: readDecimal(account.maxSlippageRate),
    markets: mapValues(account.markets, readLimits),
  };
}

function readLimits(limits: Shipped<MarketLimits>): MarketLimits {
  return {
    ...limits,
    maxAmount: readDecimal(limits.maxAmount),
    maxNotional: readDecimal(limits.maxNotional),
    maxPosition: readDecimal(limits.maxPosition ?? null),
  };
}

function readRiskLimits(limits: Shipped<RiskLimits>): RiskLimits {
  return {
    ...limits,
    maxOpenNotional: readDecimal(limits.maxOpenNotional),
    maxDailyLoss: readDecimal(limits.maxDailyLoss),
  };
}

function readDecimal(text: string | null): Decimal | null {
  return text === null ? null : parseDecimal(text);
}

function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  read: (value: From) => To,
): Readonly<Record<string, To>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, read(value)]));
}
