import { describe, expect, test } from '@jest/globals';
import { checkLiveConfig, checkLiveKeys, findOutboundProxy } from '../../../infra/local/live-start.ts';
import { parseConfig } from '../../../lib/host/config.ts';
import type { Account } from '../../../lib/model/account.ts';
import shipped from '../../../relay.config.example.ts';

function configOf(address: string, mode: 'live' | 'paper' | 'dry-run') {
  const { main } = shipped.accounts;
  return parseConfig({
    ...shipped,
    exchange: { address, dialect: 'live' },
    accounts: { main: { ...main, mode } },
  });
}

describe('a live run', () => {
  test('goes to the exchange of the configuration', () => {
    expect(checkLiveConfig(configOf('global', 'live'), {})).toBe('https://whitebit.com');
    expect(checkLiveConfig(configOf('https://exchange.test', 'live'), {})).toBe('https://exchange.test');
    expect(checkLiveConfig(configOf('global', 'dry-run'), {})).toBe('https://whitebit.com');
  });

  test.each([
    ['an address without TLS', 'http://127.0.0.1:8090', 'live', {}, 'takes an https address only'],
    ['paper accounts alone', 'global', 'paper', {}, "every account of relay.config.ts has mode: 'paper'"],
    ['a proxy', 'global', 'live', { HTTPS_PROXY: 'http://proxy:3128' }, 'HTTPS_PROXY is set'],
  ] as const)('is refused with %s', (_, address, mode, environment, reason) => {
    expect(() => checkLiveConfig(configOf(address, mode), environment)).toThrow(reason);
  });

  test('is refused without the key of an account that trades; a rehearsal needs none', async () => {
    const accounts = [
      { name: 'main', mode: 'live' },
      { name: 'second', mode: 'live' },
      { name: 'rehearsal', mode: 'dry-run' },
    ] as unknown as readonly Account[];
    const secrets = {
      exchangeKeys: async (name: string) => (name === 'main' ? { apiKey: 'key', apiSecret: 'secret' } : null),
    };

    await expect(checkLiveKeys(accounts, secrets, (name) => `set ${name}`)).rejects.toThrow(
      "second: mode 'live' and no exchange key; store it with `set second`; nothing was started",
    );
    await checkLiveKeys([accounts[0] as Account, accounts[2] as Account], secrets, String);
  });
});

describe('a proxy towards the exchange', () => {
  test.each([
    ['https_proxy', { https_proxy: 'http://p' }],
    ['ALL_PROXY', { ALL_PROXY: 'socks5://p' }],
    [null, {}],
    [null, { HTTPS_PROXY: '' }],
    [null, { HTTP_PROXY: 'http://p' }],
    [null, { HTTPS_PROXY: 'http://p', NO_PROXY: 'localhost, whitebit.com' }],
    [null, { HTTPS_PROXY: 'http://p', no_proxy: '.whitebit.com' }],
    [null, { HTTPS_PROXY: 'http://p', NO_PROXY: '*' }],
    ['HTTPS_PROXY', { HTTPS_PROXY: 'http://p', NO_PROXY: 'bit.com' }],
  ])('is %s for %j', (name, environment) => {
    expect(findOutboundProxy(environment, 'whitebit.com')).toBe(name);
  });
});
