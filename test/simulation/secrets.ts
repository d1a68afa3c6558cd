import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Credentials } from '../../lib/exchange/client.ts';
import { createAwsSecrets } from '../../lib/host/aws-secrets.ts';
import { liveTokensOf, type TokensContent } from '../../lib/host/secret-contents.ts';
import type { SecretStore } from '../../lib/host/secrets.ts';
import type { Process } from './process.ts';

/** What is kept secret, as it is at the moment; an operator changes it. */
export interface SecretContents {
  readonly tokens: Map<string, TokensContent>;
  readonly keys: Map<string, Credentials>;
}

/** Secrets of a local run: read anew each time. */
export function createLocalSecrets(process: Process, contents: SecretContents): SecretStore {
  return {
    webhookTokens: (account) =>
      process.step('secrets.webhookTokens', account, async () => {
        const content = contents.tokens.get(account);
        return content === undefined ? [] : liveTokensOf(content, process.clock.nowMs());
      }),
    exchangeKeys: (account) =>
      process.step('secrets.exchangeKeys', account, async () => contents.keys.get(account) ?? null),
  };
}

/** Secrets of a function: the real store, over a Secrets Manager that answers from the simulated world. */
export function createFunctionSecrets(
  process: Process,
  contents: SecretContents,
  kinds: { readonly tokens: boolean; readonly keys: boolean },
): SecretStore {
  const read = (id: string): string => {
    const [kind, account = ''] = id.split('/');
    return JSON.stringify(kind === 'tokens' ? contents.tokens.get(account) : contents.keys.get(account));
  };
  const client = {
    send: ({ input }: { readonly input: { readonly SecretId: string } }) =>
      process.step('secrets.fetch', input.SecretId, async () => ({ SecretString: read(input.SecretId) })),
  } as unknown as SecretsManagerClient;
  const idsOf = (kind: string, isWanted: boolean) =>
    isWanted
      ? Object.fromEntries([...contents.tokens.keys()].map((account) => [account, `${kind}/${account}`]))
      : {};
  return createAwsSecrets({
    client,
    clock: process.clock,
    webhookTokens: idsOf('tokens', kinds.tokens),
    exchangeKeys: idsOf('keys', kinds.keys),
  });
}
