import type { Clock } from '../../lib/base/clock.ts';
import { decimalOrUndefined, formatDecimal } from '../../lib/base/decimal.ts';
import { RelayError } from '../../lib/base/errors.ts';
import type { Credentials, ExchangeClient } from '../../lib/exchange/client.ts';
import { readClockOffset } from '../../lib/exchange/clock-offset.ts';
import { collateralSummary } from '../../lib/exchange/endpoints/collateral-summary.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { markets as marketList } from '../../lib/exchange/endpoints/markets.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import { ExchangeError } from '../../lib/exchange/errors.ts';
import type { HostConfig } from '../../lib/host/config.ts';
import { createExchangeClients } from '../../lib/host/exchange-clients.ts';
import type { Market } from '../../lib/model/market.ts';
import type { FirstMarket, FirstWishes } from '../read/first-config.ts';
import { type Check, fail, pass, warn } from './check.ts';
import { judgeClock, judgeKey } from './exchange-checks.ts';
import { checkMarkets } from './market-checks.ts';

const limits = { timeoutMs: 5_000 };

/** Checks a configuration that is not written yet against the exchange. Nothing is changed there. @param keys null: no key is checked */
export async function checkFirst(
  { exchange, settings }: HostConfig,
  wishes: FirstWishes,
  keys: Credentials | null,
  clock: Clock,
): Promise<readonly Check[]> {
  const clients = createExchangeClients({ ...exchange, secrets: { exchangeKeys: async () => keys }, clock });
  try {
    const client = clients.anonymous;
    const clockCheck = await checkTime(client, clock);
    if (clockCheck.name === 'exchange') return [clockCheck];
    const listed = await client.call(marketList, {}, limits);
    const keyed = keys === null ? null : await clients.forAccount(wishes.account);
    return [
      clockCheck,
      checkMarkets(settings, listed),
      ...wishes.markets.flatMap((market) => checkLargest(market, listed)),
      ...(keyed === null ? [] : await checkRights(keyed, wishes)),
    ];
  } finally {
    clients.close();
  }
}

/** @returns the check of the clock; that of the exchange when it does not answer */
async function checkTime(client: ExchangeClient, clock: Clock): Promise<Check> {
  try {
    return judgeClock(await readClockOffset(client, clock, limits));
  } catch (error) {
    const advice = 'Check the address and the network, or add --unchecked to write the file all the same.';
    return fail('exchange', describe(error), advice);
  }
}

/** Whether an order can be as small as the exchange wants it, and its largest amount is one that the exchange takes. */
function checkLargest(
  { name, maxAmount, maxNotional }: FirstMarket,
  listed: readonly Market[],
): readonly Check[] {
  const market = listed.find((one) => one.name === name);
  if (market === undefined) return [];
  const { minAmount, minTotal, amountStep, base, quote } = market;
  const about = `largest order in ${name}`;
  const steps = `the exchange takes at least ${formatDecimal(minAmount)} ${base} and ${formatDecimal(minTotal)} ${quote}, in steps of ${formatDecimal(amountStep)} ${base}`;
  const amount = maxAmount === null ? null : decimalOrUndefined(maxAmount);
  const notional = maxNotional === null ? null : decimalOrUndefined(maxNotional);
  if (amount?.lt(minAmount) === true || notional?.lt(minTotal) === true)
    return [fail(about, `no order could be placed: ${steps}`, 'Raise the limit.')];
  if (amount === null && notional === null)
    return [warn(about, `any size is allowed; ${steps}`, 'Give it a largest amount and a largest notional.')];
  return [pass(about, steps)];
}

/** What the key may read. Whether it may trade shows with the first order only: nothing that could trade is asked. */
async function checkRights(
  client: ExchangeClient,
  { account, markets }: FirstWishes,
): Promise<readonly Check[]> {
  const grounds = new Set(markets.map(({ tradesOn }) => tradesOn));
  const asked = [
    ['main balance', () => client.call(mainBalance, {}, limits)],
    ...(grounds.has('spot') ? [['trade balance', () => client.call(tradeBalance, {}, limits)] as const] : []),
    ...(grounds.has('margin') || grounds.has('futures')
      ? [['collateral account', () => client.call(collateralSummary, {}, limits)] as const]
      : []),
  ] as const;
  return await Promise.all(
    asked.map(async ([what, ask]) => {
      const name = `key of ${account}: ${what}`;
      try {
        await ask();
        return pass(name, 'the key may read it');
      } catch (error) {
        return judgeKey(name, { name: account }, error, { kind: 'own' });
      }
    }),
  );
}

function describe(error: unknown): string {
  if (error instanceof ExchangeError || error instanceof RelayError) return error.message;
  throw error;
}
