import type { Alarms } from '../../lib/base/alarms.ts';
import type { SqliteFile } from '../../lib/base/sqlite.ts';
import type { Transport } from '../../lib/base/wire.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { WebhookHandler } from '../../lib/host/webhook.ts';
import type { ContestedFacts } from '../../lib/ledger/account-facts.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import type { MarketCopies } from '../../lib/ledger/market-copies.ts';
import type { OrderKindName } from '../../lib/model/order.ts';
import type { Settings } from '../../lib/model/settings.ts';
import type { SignalQueue } from '../../lib/queue/queue.ts';
import type { SqliteLine } from '../../lib/queue/sqlite-line.ts';
import type { MarketCatalogue } from '../../lib/relay/execute/market-catalogue.ts';
import type { ReceiveServices } from '../../lib/relay/services.ts';
import type { HandlerName, Process } from './process.ts';
import type { SecretContents } from './secrets.ts';

/** What a mutation may use. */
export interface MutationTools {
  readonly process: Process;
  readonly handlerName: HandlerName;
  readonly file: SqliteFile;
  readonly secrets: SecretContents;
  /** The account of the client; null where no client is mutated. */
  readonly account: string | null;
  /** The client of any account, without a mutation. */
  readonly clientFor: (account: string) => Promise<ExchangeClient>;
}

/** A deliberate defect of the relay: each wrapper sits between a handler and one of its ports. */
export interface Mutation {
  readonly settings?: (settings: Settings) => Settings;
  /** Wraps the database file of a local relay. */
  readonly file?: (file: SqliteFile) => SqliteFile;
  /** Wraps the line from which a local relay takes its signals. */
  readonly line?: (line: SqliteLine) => SqliteLine;
  readonly ledger?: (ledger: Ledger, tools: MutationTools) => Ledger;
  readonly executions?: (executions: Executions, tools: MutationTools) => Executions;
  readonly facts?: (facts: ContestedFacts, tools: MutationTools) => ContestedFacts;
  readonly copies?: (copies: MarketCopies, tools: MutationTools) => MarketCopies;
  /** @param client the client with which the catalogue reads the market list */
  readonly markets?: (catalogue: MarketCatalogue, client: ExchangeClient) => MarketCatalogue;
  readonly queue?: (queue: SignalQueue, tools: MutationTools) => SignalQueue;
  readonly client?: (client: ExchangeClient, tools: MutationTools) => ExchangeClient;
  readonly transport?: (transport: Transport, tools: MutationTools) => Transport;
  readonly alarms?: (alarms: Alarms) => Alarms;
  /** Wraps the secrets that the webhook searches for in every alert. */
  readonly heldSecrets?: (held: ReceiveServices['heldSecrets']) => ReceiveServices['heldSecrets'];
  readonly webhook?: (handler: WebhookHandler, tools: MutationTools) => WebhookHandler;
}

export interface Mutant {
  readonly name: string;
  /** The defect, in a few words. */
  readonly breaks: string;
  /** An invariant that the relay itself keeps must be broken within this many seeds of the dialect. */
  readonly seeds: number;
  /** The first of these seeds: near one that has caught it, where few do. Absent: 1. */
  readonly fromSeed?: number;
  readonly dialect: Dialect;
  readonly mutation: Mutation;
  /** The kinds of order that can reveal it alone; absent: any; empty: only all of them together. */
  readonly kinds?: readonly OrderKindName[];
}
