import type { Credentials } from '../../lib/exchange/client.ts';
import { createAwsSecrets, type SecretsClient } from '../../lib/host/aws-secrets.ts';
import { liveTokensOf, type TokensContent } from '../../lib/host/secret-contents.ts';
import type { SecretHolder } from '../../lib/host/secrets.ts';
import { paperKeys } from '../../lib/paper/engine/accounts.ts';
import type { Process } from './process.ts';

/** The current secrets; an operator changes them. */
export interface SecretContents {
  readonly tokens: Map<string, TokensContent>;
  readonly keys: Map<string, Credentials>;
}

/** Every valid webhook token and every exchange key. */
export function listSecrets({ tokens, keys }: SecretContents, nowMs: number): readonly string[] {
  return [
    ...[...tokens.values()].flatMap((content) => liveTokensOf(content, nowMs)),
    ...[...keys.values()].flatMap(({ apiKey, apiSecret }) => [apiKey, apiSecret]),
  ];
}

/** By account of the relay: the account of the exchange to which its key belongs. */
export function ownersOf({ keys }: SecretContents): ReadonlyMap<string, string> {
  return new Map(
    [...keys].flatMap(([account, { apiKey }]) => {
      const owner = paperKeys.get(apiKey)?.account;
      return owner === undefined ? [] : [[account, owner] as const];
    }),
  );
}

/** The secrets of a local run, which are read again each time. */
export function createLocalSecrets(process: Process, contents: SecretContents): SecretHolder {
  return {
    webhookTokens: (account) =>
      process.step('secrets.webhookTokens', account, async () => {
        const content = contents.tokens.get(account);
        return content === undefined ? [] : liveTokensOf(content, process.clock.nowMs());
      }),
    exchangeKeys: (account) =>
      process.step('secrets.exchangeKeys', account, async () => contents.keys.get(account) ?? null),
    // From the same file, which was read a moment before.
    heldSecrets: async () => listSecrets(contents, process.clock.nowMs()),
  };
}

/** The secrets of a function: the real store, over a simulated Secrets Manager. */
export function createFunctionSecrets(
  process: Process,
  contents: SecretContents,
  kinds: { readonly tokens: boolean; readonly keys: boolean },
): SecretHolder {
  const read = (id: string): string => {
    const [kind, account = ''] = id.split('/');
    return JSON.stringify(kind === 'tokens' ? contents.tokens.get(account) : contents.keys.get(account));
  };
  const client: SecretsClient = {
    call: (_, { SecretId }) =>
      process.step('secrets.fetch', SecretId, async () => ({ SecretString: read(SecretId) })),
  };
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
