import type { ExchangeClient, PreparedRequest, SendOptions } from '../../lib/exchange/client.ts';
import type { Endpoint, ParamsOf, ResultOf } from '../../lib/exchange/endpoint.ts';
import type { ListPage } from '../../lib/exchange/listed.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { override } from '../support/override.ts';

export type Call = <E extends Endpoint>(
  endpoint: E,
  params: ParamsOf<E>,
  options?: SendOptions,
) => Promise<ResultOf<E>>;

/** A client that answers the calls of some endpoints in another way; undefined: as the client does. */
export function changeCalls(
  client: ExchangeClient,
  change: (name: string, params: object, ask: () => Promise<unknown>) => Promise<unknown> | undefined,
): ExchangeClient {
  const call: Call = async (endpoint, params, options) => {
    const ask = () => client.call(endpoint, params, options);
    return (await (change(endpoint.name, params as object, ask) ?? ask())) as ResultOf<typeof endpoint>;
  };
  return override(client, { call });
}

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
