import type { Clock } from '../lib/base/clock.ts';
import type { Credentials, ExchangeClient } from '../lib/exchange/client.ts';
import type { Dialect } from '../lib/exchange/dialect.ts';
import type { Ledger } from '../lib/ledger/ledger.ts';
import type { Account } from '../lib/model/account.ts';
import { findAccount, type Settings } from '../lib/model/settings.ts';
import type { DeadLetters } from '../lib/queue/dead-letters.ts';
import type { SnapshotStore } from '../lib/snapshots/snapshot-store.ts';
import type { Check } from './check.ts';
import { type CommandFailure, createUsageFailure } from './failure.ts';
import type { HttpResponse } from './http.ts';

/** Which relay a command works on. */
export type Target =
  | { readonly kind: 'local'; readonly data: string }
  | { readonly kind: 'stack'; readonly stack: string; readonly region: string };

/** `local relay in .relay`, `stack trading-relay-prod in eu-central-1` */
export function describeTarget(target: Target): string {
  return target.kind === 'local'
    ? `local relay in ${target.data}`
    : `stack ${target.stack} in ${target.region}`;
}

/** What a command works on: one relay, here or on AWS. Nothing of it is opened before it is asked for. */
export interface Session {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly target: Target;
  /** For messages, for example `the relay of stack Relay-prod`. */
  readonly relayName: string;
  /** What has to be done before TradingView can reach the webhook, in one sentence. */
  readonly reachHint: string;
  /** When a change of keys or tokens takes effect, in one sentence. */
  readonly changeHint: string;
  /** @throws CommandFailure when it is not known */
  locateExchange(): ExchangeLocation;
  /** @throws CommandFailure when this relay does not trade on a paper exchange of its own */
  locatePaper(): string;
  /** @throws CommandFailure when there is no ledger */
  openLedger(): Ledger;
  /** @throws CommandFailure when there is no queue */
  openDeadLetters(): DeadLetters;
  /** @throws CommandFailure when there are no snapshots */
  openSnapshots(): SnapshotStore;
  /** @throws RelayError `secrets_missing` when the account has no token */
  readWebhookUrl(account: Account): Promise<string>;
  /** Has the relay take an alert in as if it came to the account's webhook. */
  sendAlert(account: Account, body: Buffer): Promise<HttpResponse>;
  /**
   * A client that signs with the account's key; null: one that signs nothing.
   *
   * @param dialect what it speaks, if not what the relay is configured to
   * @throws CommandFailure `not_running`; RelayError `secrets_missing`
   */
  openExchange(account: Account | null, dialect?: Dialect): Promise<ExchangeClient>;
  storeKeys(account: Account, keys: Credentials): Promise<void>;
  /** Gives the account another token; the one it replaces opens until the given time. */
  rotateToken(account: Account, validUntilMs: number): Promise<void>;
  /** What can be wrong with this kind of relay in particular. */
  diagnose(): Promise<readonly Check[]>;
  close(): void;
}

export interface ExchangeLocation {
  readonly url: string;
  readonly dialect: Dialect;
  /** `own`: an address that only its owner knows to be real or not. */
  readonly kind: 'paper' | 'real' | 'own';
  /** What the exchange of the configuration is known to refuse; null when nothing is known. */
  readonly refusal: string | null;
}

/** Whether the exchange is real, in a sentence. */
export function describeExchange({ kind, url }: ExchangeLocation): string {
  switch (kind) {
    case 'paper':
      return `this is the paper exchange (${url}): no real money`;
    case 'real':
      return `this is the real exchange (${url}): real money`;
    case 'own':
      return `${url} is an address of your own: only you know whether it is real`;
  }
}

/**
 * The configured account of that name; absent: the first.
 *
 * @throws CommandFailure (usage) when there is none
 */
export function chooseAccount(settings: Settings, name: string | undefined): Account {
  const names = Object.keys(settings.accounts);
  const account = findAccount(settings, name ?? names[0] ?? '');
  if (account === null) throw createUnknownAccount(settings, name ?? '');
  return account;
}

/** What a command says when it is given an account that nobody configured. */
export function createUnknownAccount({ accounts }: Settings, name: string): CommandFailure {
  return createUsageFailure(
    `relay.config.ts has no account "${name}"`,
    `Name one of: ${Object.keys(accounts).join(', ')}.`,
  );
}

/** The webhook's URL for an account; a token may hold any character. */
export function webhookUrlOf(baseUrl: string, account: Account, token: string): string {
  return `${baseUrl}${encodeURIComponent(account.name)}/${encodeURIComponent(token)}`;
}
