import type { Credentials } from '../../lib/exchange/client.ts';

/** The first configured account trades as the paper exchange's partner, every other one as its plain customer. */
export function paperKeysOf(account: string): Credentials {
  return account === 'main'
    ? { apiKey: 'paper-key', apiSecret: 'paper-secret' }
    : { apiKey: 'paper-key-2', apiSecret: 'paper-secret-2' };
}
