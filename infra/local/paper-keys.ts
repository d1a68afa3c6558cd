import type { Credentials } from '../../lib/exchange/client.ts';

/**
 * The account `main` gets the key of the paper exchange's partner account, every other account that of its
 * second one.
 */
export function paperKeysOf(account: string): Credentials {
  return account === 'main'
    ? { apiKey: 'paper-key', apiSecret: 'paper-secret' }
    : { apiKey: 'paper-key-2', apiSecret: 'paper-secret-2' };
}
