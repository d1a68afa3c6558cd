import { existsSync } from 'node:fs';
import { type Clock, systemClock } from '../lib/base/clock.ts';
import { RelayError } from '../lib/base/errors.ts';
import { openSqlite, type SqliteFile } from '../lib/base/sqlite.ts';
import type { ExchangeClient } from '../lib/exchange/client.ts';
import { parseConfig } from '../lib/host/config.ts';
import { type DataFolder, locateDataFolder, type Run, readRun } from '../lib/host/data-folder.ts';
import { createExchangeClients, type ExchangeClients } from '../lib/host/exchange-clients.ts';
import { createFileSecrets } from '../lib/host/file-secrets.ts';
import type { SecretStore } from '../lib/host/secrets.ts';
import type { Ledger } from '../lib/ledger/ledger.ts';
import { createSqliteLedger } from '../lib/ledger/sqlite-ledger.ts';
import type { Account } from '../lib/model/account.ts';
import { findAccount, type Settings } from '../lib/model/settings.ts';
import config from '../relay.config.ts';
import { CommandFailure, createUsageFailure } from './failure.ts';

/** What a command works on: one data folder, of which nothing is opened before it is asked for. */
export interface Session {
  readonly clock: Clock;
  readonly settings: Settings;
  /** @throws CommandFailure when no relay was ever started on the folder */
  readRun(): Run;
  /** @throws CommandFailure when the folder holds no ledger */
  openLedger(): Ledger;
  /** @throws CommandFailure when the account has no token */
  readWebhookToken(account: Account): Promise<string>;
  /**
   * A client that signs with the account's key; null: one that signs nothing.
   *
   * @throws RelayError `secrets_missing`
   */
  openExchange(account: Account | null): Promise<ExchangeClient>;
  close(): void;
}

/** @throws RelayError `config_invalid` */
export function openSession(dataPath: string): Session {
  const { settings } = parseConfig(config);
  const folder = locateDataFolder(dataPath);
  const secrets = createFileSecrets(folder.secretsPath);
  let database: SqliteFile | null = null;
  let clients: ExchangeClients | null = null;

  function openClients(): ExchangeClients {
    const { exchangeUrl, dialect } = requireRun(folder);
    clients ??= createExchangeClients({ address: exchangeUrl, dialect, secrets, clock: systemClock });
    return clients;
  }

  return {
    clock: systemClock,
    settings,
    readRun: () => requireRun(folder),
    openLedger() {
      // Opening would create the file, and then the mistaken folder would look like an empty ledger.
      if (!existsSync(folder.databasePath)) throw neverStarted(folder);
      database ??= openSqlite(folder.databasePath);
      return createSqliteLedger(database);
    },
    readWebhookToken: (account) => readToken(folder, secrets, account),
    async openExchange(account) {
      const { anonymous, forAccount } = openClients();
      if (account === null) return anonymous;
      requireSecrets(folder);
      return await forAccount(account.name);
    },
    close() {
      clients?.close();
      database?.close();
    },
  };
}

/**
 * The configured account of that name; absent: the first.
 *
 * @throws CommandFailure (usage) when there is none
 */
export function chooseAccount(settings: Settings, name: string | undefined): Account {
  const names = Object.keys(settings.accounts);
  const account = findAccount(settings, name ?? names[0] ?? '');
  if (account === null)
    throw createUsageFailure(
      `relay.config.ts has no account "${name ?? ''}"`,
      `Name one of: ${names.join(', ')}.`,
    );
  return account;
}

function requireRun(folder: DataFolder): Run {
  const run = readRun(folder);
  if (run === null) throw neverStarted(folder);
  return run;
}

function neverStarted({ path }: DataFolder): CommandFailure {
  return new CommandFailure(
    'never_started',
    `no relay was ever started on the data folder "${path}"`,
    'Start one with `npm start`, or name another folder with --data.',
  );
}

function requireSecrets(folder: DataFolder): void {
  if (!existsSync(folder.secretsPath))
    throw new RelayError('secrets_missing', `there is no secrets file ${folder.secretsPath}`);
}

async function readToken(folder: DataFolder, secrets: SecretStore, account: Account): Promise<string> {
  requireSecrets(folder);
  // While a token is being replaced two are valid; the first is the one to hand out.
  const [token] = await secrets.webhookTokens(account.name);
  if (token === undefined)
    throw new RelayError('secrets_missing', `account ${account.name} has no webhook token stored`);
  return token;
}
