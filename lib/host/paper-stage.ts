import { RelayError } from '../base/errors.ts';
import { baseUrlOf } from '../exchange/dialect.ts';
import type { HostConfig } from './config.ts';
import { type Environment, readVariable } from './environment.ts';

/**
 * Stands for the paper exchange of the same stack, whose URL is known once it is deployed. It is no address that a client
 * could reach, and none that `relay.config.ts` may name.
 */
const paperAddress = 'paper';

/** Whether a stage of this name has a paper exchange of its own: `paper`, and all that begin with `paper-`. */
export function isPaperStage(stage: string): boolean {
  return /^paper(-|$)/.test(stage);
}

/** The same configuration for a paper stage: no real exchange is left in it, and no account in mode `live`. */
export function onPaper(config: HostConfig): HostConfig {
  const accounts = Object.entries(config.settings.accounts).map(
    ([name, account]) =>
      [name, account.mode === 'live' ? { ...account, mode: 'paper' as const } : account] as const,
  );
  return {
    ...config,
    exchange: { ...config.exchange, address: paperAddress },
    settings: { ...config.settings, accounts: Object.fromEntries(accounts) },
  };
}

/** Whether a configuration is one of a paper stage. */
export function isOnPaper({ exchange }: Pick<HostConfig, 'exchange'>): boolean {
  return exchange.address === paperAddress;
}

/**
 * The exchange of a function's configuration.
 *
 * @throws RelayError `config_invalid` when a function of a paper stage does not know its paper exchange
 */
export function exchangeOf(
  host: Pick<HostConfig, 'exchange'>,
  environment: Environment,
): HostConfig['exchange'] {
  if (!isOnPaper(host)) return host.exchange;
  return { ...host.exchange, address: checkPaperUrl(readVariable(environment, 'PAPER_EXCHANGE_URL')) };
}

/**
 * Makes sure that a URL is one of a Lambda function, or of this machine: nothing else is a paper exchange.
 *
 * @returns without a slash at the end
 * @throws RelayError `config_invalid`
 */
export function checkPaperUrl(text: string): string {
  const url = baseUrlOf(text);
  if (url.startsWith('http:') || /\.lambda-url\.[a-z0-9-]+\.on\.aws$/.test(url)) return url;
  throw new RelayError('config_invalid', `${text} is not the paper exchange of a stack; deploy again`);
}
