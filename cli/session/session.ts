import type { Clock } from '../../lib/base/clock.ts';
import type { Credentials, ExchangeClient } from '../../lib/exchange/client.ts';
import { baseUrlOf, type Dialect } from '../../lib/exchange/dialect.ts';
import type { Backup } from '../../lib/host/backup.ts';
import type { ContestedFacts } from '../../lib/ledger/account-facts.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import type { Account } from '../../lib/model/account.ts';
import { findAccount, type Settings } from '../../lib/model/settings.ts';
import type { ChannelState } from '../../lib/notices/channel-state.ts';
import type { RequestChannelName, Ways } from '../../lib/notices/channels.ts';
import type { ChannelName, NoticeSettings } from '../../lib/notices/notice-settings.ts';
import type { OpenChannel } from '../../lib/notices/tell-channel.ts';
import type { DeadLetters } from '../../lib/queue/dead-letters.ts';
import type { SnapshotStore } from '../../lib/snapshots/snapshot-store.ts';
import type { Check } from '../checks/check.ts';
import { type CommandFailure, createUsageFailure } from '../failure.ts';
import type { LocalResponse } from './http.ts';
import type { InstalledPart } from './installed-parts.ts';

/** Which relay a command works on. */
export type Target =
  /** `trades`: absent on paper. */
  | { readonly kind: 'local'; readonly data: string; readonly trades?: 'live' }
  | {
      readonly kind: 'stack';
      readonly stack: string;
      readonly region: string;
      /** Absent in any stage but a paper stage. */
      readonly trades?: 'paper';
    };

/**
 * `paper relay in .relay`, `LIVE relay in .relay-live`, `stack trading-relay-prod in eu-central-1`,
 * `paper stack trading-relay-paper in eu-central-1`
 */
export function describeTarget(target: Target): string {
  if (target.kind === 'stack')
    return `${target.trades === 'paper' ? 'paper ' : ''}stack ${target.stack} in ${target.region}`;
  return `${target.trades === 'live' ? 'LIVE' : 'paper'} relay in ${target.data}`;
}

/** A command of this tool for the same relay, as a person types it. */
export function commandFor(target: Target, command: string): string {
  if (target.kind === 'stack') return `npx relay ${command} --stack ${target.stack}`;
  return `npx relay ${command}${target.data === '.relay' ? '' : ` --data ${target.data}`}`;
}

/** The backups of a data folder; they need no running relay. */
export interface LocalBackups {
  /** @throws RelayError `store_unavailable`; CommandFailure when there is no ledger */
  make(file: string, withSecrets: boolean): Promise<Backup>;
  /** @throws RelayError `store_unavailable`, `folder_in_use` */
  restore(file: string): Promise<{ readonly signals: number; readonly withSecrets: boolean }>;
}

/** Access to one relay, local or on AWS. Its parts are opened when they are first used. */
export interface Session {
  /** Null on AWS. */
  readonly backups: LocalBackups | null;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly notices: NoticeAccess;
  readonly target: Target;
  /** For messages, for example `the relay of stack Relay-prod`. */
  readonly relayName: string;
  /** One sentence on what TradingView needs to reach the webhook. */
  readonly reachHint: string;
  /** One sentence on when a change of keys or tokens takes effect. */
  readonly changeHint: string;
  /** The address of the configuration: where a live relay trades, also when this one trades on paper. */
  readonly exchangeAddress: string;
  /** A sentence when the relay was last started with another configuration than the commands read; null otherwise. */
  findConfigChange(): string | null;
  /** @throws CommandFailure when the relay was never started */
  locateExchange(): ExchangeLocation;
  /** @throws CommandFailure when this relay has no paper exchange */
  locatePaper(): string;
  /** @throws CommandFailure when there is no ledger */
  openLedger(): Ledger;
  /** @throws CommandFailure when there is no ledger */
  openExecutions(): Executions;
  /** @throws CommandFailure when there is no ledger */
  openFacts(): ContestedFacts;
  /** @throws CommandFailure when there is no queue */
  openDeadLetters(): DeadLetters;
  /** @throws CommandFailure when there are no snapshots */
  openSnapshots(): SnapshotStore;
  /** @throws RelayError or CommandFailure `secrets_missing` when the account has no token */
  readWebhookUrl(account: Account): Promise<string>;
  /** Sends an alert to the account's webhook. */
  sendAlert(account: Account, body: Buffer): Promise<LocalResponse>;
  /**
   * A client that signs with the account's key; null: a client without a key.
   *
   * @param dialect default: the configured one
   * @throws CommandFailure `not_running`; RelayError `secrets_missing`
   */
  openExchange(account: Account | null, dialect?: Dialect): Promise<ExchangeClient>;
  storeKeys(account: Account, keys: Credentials): Promise<void>;
  /** Replaces the account's webhook token. The old one stays valid until the given time. */
  rotateToken(account: Account, validUntilMs: number): Promise<void>;
  /** What there is of this relay, and how its owner removes it. */
  listParts(): Promise<readonly InstalledPart[]>;
  /**
   * Deletes what the relay made of its data folder, and the folder if nothing else is in it.
   *
   * @returns the paths that were deleted
   * @throws RelayError `folder_in_use` while a relay runs on it; CommandFailure (usage) on AWS
   */
  deleteFolder(): Promise<readonly string[]>;
  /** The checks that only this kind of relay needs. */
  diagnose(): Promise<readonly Check[]>;
  close(): void;
}

/** What a relay tells, and how its channels are reached. */
export interface NoticeAccess {
  readonly settings: NoticeSettings;
  /** Who is told of alarms without a channel, in words; null: nobody. */
  readonly toldBesides: string | null;
  /** @throws RelayError `secrets_missing`; CommandFailure when the relay tells nobody */
  readWays(): Promise<Ways>;
  /** @param way null: it is forgotten */
  storeWay(channel: RequestChannelName, way: Ways[RequestChannelName] | null): Promise<void>;
  /** How the channel fares; null when it was never used. */
  readState(channel: ChannelName): Promise<ChannelState | null>;
  /** How many changes of the ledger wait for a channel; null where that is not known. @param seq of its state */
  countWaiting(seq: number): Promise<number | null>;
  /** @throws RelayError `secrets_missing` when nobody has said how the channel is reached */
  openChannel(channel: ChannelName): Promise<OpenChannel>;
}

export interface ExchangeLocation {
  readonly url: string;
  readonly dialect: Dialect;
  /** `own`: another address in the configuration; it is unknown whether it trades real money. */
  readonly kind: 'paper' | 'real' | 'own';
}

/** Of an exchange that is no paper exchange. */
export function kindOfAddress(url: string): 'real' | 'own' {
  return [baseUrlOf('global'), baseUrlOf('eu')].includes(url) ? 'real' : 'own';
}

/** One sentence on whether the exchange trades real money. */
export function describeExchange({ kind, url }: ExchangeLocation): string {
  switch (kind) {
    case 'paper':
      return `this is the paper exchange (${url}): no real money`;
    case 'real':
      return `this is the real exchange (${url}): real money`;
    case 'own':
      return `${url} is an address you configured: the relay cannot tell whether it trades real money`;
  }
}

/**
 * Finds a configured account by its name; undefined: the first one.
 *
 * @throws CommandFailure (usage) when there is none
 */
export function chooseAccount(settings: Settings, name: string | undefined): Account {
  const names = Object.keys(settings.accounts);
  const account = findAccount(settings, name ?? names[0] ?? '');
  if (account === null) throw createUnknownAccount(settings, name ?? '');
  return account;
}

/**
 * `Account main.` Where nobody named it and there are others, it also says which ones were not looked at.
 *
 * @param named what the command line says; undefined: nothing, so that the first account was taken
 * @param command what shows the same of another account, up to its name
 */
export function describeChosen(
  { settings, target }: Pick<Session, 'settings' | 'target'>,
  account: Account,
  named: string | undefined,
  command: string,
): string {
  const others = namesBeside(settings, account);
  const [first, ...more] = others;
  if (named !== undefined || first === undefined) return `Account ${account.name}.`;
  const other = more.length === 0 ? first : 'NAME';
  return `Account ${account.name}. Not looked at: ${others.join(', ')}; for that: ${commandFor(target, `${command} ${other}`)}`;
}

/** The names of the other configured accounts. */
export function namesBeside({ accounts }: Settings, { name }: Account): readonly string[] {
  return Object.keys(accounts).filter((other) => other !== name);
}

/** A command that shows something of an account, which is named unless it is the first one. */
export function commandOf(
  { settings, target }: Pick<Session, 'settings' | 'target'>,
  { name }: Account,
  command: string,
): string {
  const isFirst = Object.keys(settings.accounts)[0] === name;
  return commandFor(target, isFirst ? command : `${command} ${name}`);
}

/** The failure for an account that is not configured. */
export function createUnknownAccount({ accounts }: Settings, name: string): CommandFailure {
  return createUsageFailure(
    `the configuration has no account "${name}"`,
    `Name one of: ${Object.keys(accounts).join(', ')}.`,
  );
}

/** The webhook URL of an account. Name and token are URL-encoded. */
export function webhookUrlOf(baseUrl: string, account: Account, token: string): string {
  return `${baseUrl}${encodeURIComponent(account.name)}/${encodeURIComponent(token)}`;
}
