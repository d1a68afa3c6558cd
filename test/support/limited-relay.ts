import { formatDecimal } from '../../lib/base/decimal.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import type { ListPage } from '../../lib/exchange/listed.ts';
import { parseConfig } from '../../lib/host/config.ts';
import type { OpenPosition } from '../../lib/model/holdings.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { type Aftermath, openAftermath } from './aftermath.ts';
import { override } from './override.ts';
import { testConfig } from './world.ts';

/** A relay whose account has limits of risk; each order may have others. */
export interface LimitedRelay extends Aftermath {
  /** Sends a market order for BTC_USDT, or what the fields say. @returns its status, and the rule that denied it */
  sendUnder(settings: Settings, fields: object, market?: string): Promise<object>;
  /** Stores an order of BTC_USDT as an older release began to send it: nothing says how much it came to. */
  beginAsBefore(fields: object): Promise<void>;
  /** The signed positions of a market at the exchange; ends every fault. */
  held(market?: string): Promise<readonly string[]>;
}

/** From now on the list of positions is read as `change` makes it. */
export async function changePositions(
  { services }: Aftermath,
  change: (positions: readonly OpenPosition[]) => readonly OpenPosition[],
): Promise<void> {
  const client = await services.exchangeFor('main');
  const changed = override(client, {
    async call(endpoint, params, options) {
      const read = await client.call(endpoint, params, options);
      if (endpoint.name !== openPositions.name) return read;
      const page = read as ListPage<OpenPosition>;
      return { ...page, records: change(page.records) } as typeof read;
    },
  });
  Object.assign(services, { exchangeFor: async () => changed });
}

/** @param limits of the account `main`; @param market of BTC_USDT */
export function settingsWith(limits: object, market: object = {}): Settings {
  const { main } = testConfig.accounts;
  const markets = { ...main.markets, BTC_USDT: { tradesOn: 'margin' as const, ...market } };
  return parseConfig({ ...testConfig, accounts: { main: { ...main, markets, ...limits } } }).settings;
}

/** @param dialect of the exchange; absent: the live one */
export async function openLimitedRelay(dialect: 'live' | 'documented' = 'live'): Promise<LimitedRelay> {
  const relay = await openAftermath(dialect);
  let count = 0;
  return {
    ...relay,
    async sendUnder(settings, fields, market = 'BTC_USDT') {
      count += 1;
      const signalId = `order-${count}`;
      const alert = {
        id: signalId,
        ticker: 'BTCUSDT',
        orderType: 'market',
        maxSlippage: '1%',
        ...fields,
      };
      Object.assign(relay.services, { settings });
      await relay.receiveAll(JSON.stringify(alert));
      await executeSignal(relay.services, { account: 'main', signalId, market });
      const { status, steps } = await relay.entry(signalId);
      const { rule, limit, actual } = (steps.at(-1)?.evidence ?? {}) as Record<string, string>;
      return { status, ...(status === 'placed' ? {} : { rule, limit, actual }) };
    },
    async beginAsBefore(fields) {
      count += 1;
      const alert = { id: `order-${count}`, ticker: 'BTCUSDT', orderType: 'limit', ...fields };
      const key = await relay.receive(JSON.stringify(alert));
      const step = { status: 'sending', atMs: relay.clock.nowMs(), note: '' } as const;
      await relay.services.ledger.start(key, step, null);
    },
    async held(market = 'BTC_USDT') {
      relay.paper.control.clearFaults();
      const client = await relay.services.exchangeFor('main');
      const positions = await client.call(openPositions, { market });
      return positions.records.map(({ amount }) => formatDecimal(amount));
    },
  };
}
