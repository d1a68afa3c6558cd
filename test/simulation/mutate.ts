import { zero } from '../../lib/base/decimal.ts';
import type { ExchangeClient, PreparedRequest, SendOptions } from '../../lib/exchange/client.ts';
import type { Endpoint, ParamsOf, ResultOf } from '../../lib/exchange/endpoint.ts';
import type { ListPage } from '../../lib/exchange/listed.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Order } from '../../lib/model/order.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { override } from '../support/override.ts';

export type Call = <E extends Endpoint>(
  endpoint: E,
  params: ParamsOf<E>,
  options?: SendOptions,
) => Promise<ResultOf<E>>;

/** A client that answers the repeatable requests of some endpoints in another way; undefined: as the client does. */
export function changeCalls(
  client: ExchangeClient,
  change: (name: string, params: object, ask: () => Promise<unknown>) => Promise<unknown> | undefined,
): ExchangeClient {
  const call: Call = async (endpoint, params, options) => {
    const ask = () => client.call(endpoint, params, options);
    return (await (change(endpoint.name, params as object, ask) ?? ask())) as ResultOf<typeof endpoint>;
  };
  function prepare<E extends Endpoint>(endpoint: E, params: ParamsOf<E>): PreparedRequest<ResultOf<E>> {
    const request = client.prepare(endpoint, params);
    // What may not be sent twice is changed by `changeCreates`.
    if (!endpoint.repeatable) return request;
    const send = async (options?: SendOptions) => {
      const ask = () => request.send(options);
      return (await (change(endpoint.name, params as object, ask) ?? ask())) as ResultOf<E>;
    };
    return override(request, { send });
  }
  return override(client, { call, prepare });
}

/** A cancelled order of which nothing was filled. */
export const cancelledOrder: Order = {
  orderId: 0,
  clientOrderId: '',
  market: '',
  side: 'buy',
  type: 'market',
  status: 'cancelled',
  createdAtMs: 0,
  amount: zero,
  remaining: zero,
  price: zero,
  filledNotional: zero,
  filled: zero,
  fee: zero,
};

/** A page of a list that has no records. */
export const emptyPage: ListPage<never> = { records: [], count: 0, oddities: [] };

/** The page of a list without some of its records, or with others. */
export function changeRecords<Item>(page: unknown, change: (records: readonly Item[]) => readonly Item[]) {
  const listed = page as ListPage<Item>;
  return { ...listed, records: change(listed.records) };
}

/** Changes the parameters of every order, and the options with which it is sent. */
export function changeCreates(
  client: ExchangeClient,
  changeParams: (params: object) => object,
  changeOptions: (options: SendOptions) => SendOptions = (options) => options,
): ExchangeClient {
  return override(client, {
    prepare<E extends Endpoint>(endpoint: E, params: ParamsOf<E>): PreparedRequest<ResultOf<E>> {
      if (endpoint.repeatable) return client.prepare(endpoint, params);
      const request = client.prepare(endpoint, changeParams(params as object) as ParamsOf<E>);
      return override(request, { send: (options = {}) => request.send(changeOptions(options)) });
    },
  });
}

/** Changes the settings of every account. */
export function changeAccounts(change: (account: Account) => Account): (settings: Settings) => Settings {
  return (settings) => {
    const accounts = Object.entries(settings.accounts).map(([name, account]) => [name, change(account)]);
    return { ...settings, accounts: Object.fromEntries(accounts) };
  };
}
