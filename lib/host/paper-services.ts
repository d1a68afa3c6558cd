import { systemClock } from '../base/clock.ts';
import { createDynamodbClient } from '../base/dynamodb.ts';
import { createDynamodbJournal } from '../paper/server/dynamodb-journal.ts';
import { openSharedExchange } from '../paper/server/shared-exchange.ts';
import { accessOf } from './aws-access.ts';
import { createAwsSecrets, createSecretsClient } from './aws-secrets.ts';
import type { HostConfig } from './config.ts';
import { type Environment, readSecretIds, readVariable } from './environment.ts';
import { createLog } from './log.ts';
import type { PaperHandlerOptions } from './paper-handler.ts';

/** All processes of a stage draw the same prices. */
const priceSeed = 1;

/**
 * Opens the services of paper-exchange on AWS.
 *
 * @throws RelayError `config_invalid` when an environment variable is
 */
export function openPaperServices(host: HostConfig, environment: Environment): PaperHandlerOptions {
  const access = accessOf(environment);
  const ids = readSecretIds(environment, 'EXCHANGE_KEYS');
  const secrets = createAwsSecrets({
    client: createSecretsClient(access),
    clock: systemClock,
    webhookTokens: {},
    exchangeKeys: ids,
  });
  const journal = createDynamodbJournal({
    client: createDynamodbClient(access),
    tableName: readVariable(environment, 'PAPER_TABLE'),
    nowMs: () => systemClock.nowMs(),
  });

  /** The stack has made the keys, and nothing changes them. */
  async function readKeys() {
    const found = await Promise.all(
      Object.keys(ids).map(async (account) => [account, await secrets.exchangeKeys(account)] as const),
    );
    return new Map(
      found.flatMap(([account, keys]) =>
        keys === null ? [] : [[keys.apiKey, keyOf(account, keys)] as const],
      ),
    );
  }

  return {
    clock: systemClock,
    log: createLog('paper-exchange'),
    open: async () =>
      openSharedExchange({
        dialect: host.exchange.dialect,
        journal,
        keys: await readKeys(),
        seed: priceSeed,
      }),
  };
}

/** As on one machine: `main` trades on the paper exchange's account of that name, every other one on its second. */
function keyOf(account: string, { apiSecret }: { readonly apiSecret: string }) {
  return { apiSecret, account: account === 'main' ? 'main' : 'second', enabled: true, mayTrade: true };
}
