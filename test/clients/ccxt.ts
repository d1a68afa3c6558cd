import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runToSuccess } from '../deploy/run-process.ts';
import { installOnce } from '../support/install-once.ts';

/** Too large for a dependency of the project: it knows more than a hundred exchanges. */
const wanted = 'ccxt@4.5.84';

/** The folder of the library, from the package registry. */
export async function installCcxt(): Promise<string> {
  const home = await installOnce(wanted, async (folder) => {
    // Its own scripts are not run.
    const args = ['install', '--silent', '--ignore-scripts', '--no-save', '--no-audit', '--no-fund'];
    // Registry, proxy and certificates may stand in the environment.
    const env = Object.fromEntries(
      Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    await runToSuccess('npm', [...args, '--prefix', folder, wanted], { env });
  });
  return join(home, 'node_modules', 'ccxt');
}

/** A record of the library. Each holds the exchange's own words in `info`. */
export type CcxtRecord = Readonly<Record<string, unknown>> & { readonly info?: unknown };
type Records = Promise<readonly CcxtRecord[]>;
type Params = Readonly<Record<string, unknown>>;

/** The part of the library that the tests use. Numbers are JavaScript numbers there. */
export interface Ccxt {
  urls: { api: Record<string, Record<string, string>> };
  loadMarkets(): Promise<Readonly<Record<string, CcxtRecord>>>;
  readonly currencies: Readonly<Record<string, CcxtRecord>>;
  fetchStatus(): Promise<CcxtRecord>;
  fetchTime(): Promise<number>;
  fetchTicker(symbol: string): Promise<CcxtRecord>;
  fetchTickers(symbols?: readonly string[], params?: Params): Promise<Readonly<Record<string, CcxtRecord>>>;
  fetchOrderBook(
    symbol: string,
    limit?: number,
  ): Promise<{ readonly asks: readonly number[][]; readonly bids: readonly number[][]; timestamp: number }>;
  fetchTrades(symbol: string): Records;
  fetchTradingFees(): Promise<Readonly<Record<string, CcxtRecord>>>;
  fetchDepositWithdrawFees(): Promise<Readonly<Record<string, CcxtRecord>>>;
  fetchFundingRates(): Promise<Readonly<Record<string, CcxtRecord>>>;
  fetchBalance(params?: Params): Promise<Readonly<Record<string, CcxtRecord>>>;
  createOrder(
    symbol: string,
    type: string,
    side: string,
    amount: number,
    price?: number,
    params?: Params,
  ): Promise<CcxtRecord>;
  createMarketBuyOrderWithCost(symbol: string, cost: number, params?: Params): Promise<CcxtRecord>;
  editOrder(
    id: string,
    symbol: string,
    type: string,
    side: string,
    amount?: number,
    price?: number,
    params?: Params,
  ): Promise<CcxtRecord>;
  cancelOrder(id: string, symbol: string): Promise<CcxtRecord>;
  cancelAllOrders(symbol: string, params?: Params): Records;
  fetchOrder(id: string, symbol: string): Promise<CcxtRecord>;
  fetchOpenOrders(symbol?: string): Records;
  fetchClosedOrders(symbol?: string): Records;
  fetchMyTrades(symbol: string): Records;
  fetchOrderTrades(id: string, symbol: string): Records;
  fetchPositions(): Records;
  fetchPositionHistory(symbol: string): Records;
  setLeverage(leverage: number): Promise<CcxtRecord>;
  v4PrivatePostMarketFee(params?: Params): Promise<CcxtRecord>;
  v4PrivatePostCollateralAccountSummary(params?: Params): Promise<CcxtRecord>;
  v4PublicGetPlatformStatus(): Promise<CcxtRecord>;
  v4PublicGetCollateralMarkets(): Promise<CcxtRecord>;
}

/** The library as its users make it, but for the address. */
export async function connectCcxt(address: string, apiKey: string, secret: string): Promise<Ccxt> {
  const file = join(await installCcxt(), 'js', 'src', 'whitebit.js');
  const { default: Exchange } = await import(pathToFileURL(file).href);
  const exchange: Ccxt = new Exchange({ apiKey, secret });
  for (const addresses of Object.values(exchange.urls.api))
    for (const [access, url] of Object.entries(addresses))
      addresses[access] = url.replace('https://whitebit.com', address);
  return exchange;
}
