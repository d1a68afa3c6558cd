import { RelayError } from '../../lib/base/errors.ts';
import { baseUrlOf } from '../../lib/exchange/dialect.ts';
import type { HostConfig } from '../../lib/host/config.ts';
import type { Environment } from '../../lib/host/environment.ts';
import type { SecretStore } from '../../lib/host/secrets.ts';
import type { Account } from '../../lib/model/account.ts';

/**
 * Makes sure that a live run would trade, and where, before it changes anything.
 *
 * @returns the address of the exchange, without a slash at the end
 * @throws RelayError `live_refused`
 */
export function checkLiveConfig({ exchange, settings }: HostConfig, environment: Environment): string {
  const url = baseUrlOf(exchange.address);
  if (!url.startsWith('https:'))
    throw refuse(
      `exchange.address is ${url}, and \`--live\` takes an https address only: 'global', 'eu' or a URL`,
    );
  const proxy = findOutboundProxy(environment, new URL(url).hostname);
  if (proxy !== null)
    throw refuse(
      `${proxy} is set, and the relay does not send orders through a proxy: unset it for this process, or add the exchange to NO_PROXY`,
    );
  // An account in dry-run does all but send: the step before the first order.
  if (Object.values(settings.accounts).every(({ mode }) => mode === 'paper'))
    throw refuse("every account of relay.config.ts has mode: 'paper', and here is no paper exchange");
  return url;
}

/**
 * @param keysCommand how the owner stores a key of an account
 * @throws RelayError `live_refused` when an account in mode `live` has no exchange key
 */
export async function checkLiveKeys(
  accounts: readonly Account[],
  secrets: Pick<SecretStore, 'exchangeKeys'>,
  keysCommand: (account: string) => string,
): Promise<void> {
  const keys = await Promise.all(accounts.map(({ name }) => secrets.exchangeKeys(name, 'newest')));
  const without = accounts.filter(({ mode }, index) => mode === 'live' && keys[index] === null);
  if (without.length === 0) return;
  const commands = without.map(({ name }) => `\`${keysCommand(name)}\``);
  throw refuse(
    `${without.map(({ name }) => name).join(', ')}: mode 'live' and no exchange key; store it with ${commands.join(', ')}`,
  );
}

/**
 * The variable that asks for a proxy towards this host; null when none does. Ignoring it would be worse than refusing: the
 * owner believes that orders leave by the proxy, and the exchange may know the key by its address.
 */
export function findOutboundProxy(environment: Environment, host: string): string | null {
  const read = (name: string) => environment[name] ?? '';
  const isExempt = [read('no_proxy'), read('NO_PROXY')]
    .flatMap((list) => list.split(/[\s,]+/))
    .some((entry) => entry === '*' || isOfDomain(host, entry.replace(/^\*?\./, '')));
  if (isExempt) return null;
  return ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'].find((name) => read(name) !== '') ?? null;
}

function isOfDomain(host: string, domain: string): boolean {
  return domain !== '' && (host === domain || host.endsWith(`.${domain}`));
}

function refuse(reason: string): RelayError {
  return new RelayError('live_refused', `${reason}; nothing was started`);
}
