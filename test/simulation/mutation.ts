import type { Alarms } from '../../lib/base/alarms.ts';
import type { SqliteFile } from '../../lib/base/sqlite.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { Transport } from '../../lib/exchange/transport.ts';
import type { WebhookHandler } from '../../lib/host/webhook.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import type { MarketCopies } from '../../lib/ledger/market-copies.ts';
import type { OrderKindName } from '../../lib/model/order.ts';
import type { Settings } from '../../lib/model/settings.ts';
import type { SignalQueue } from '../../lib/queue/queue.ts';
import type { MarketCatalogue } from '../../lib/relay/market-catalogue.ts';
import type { ReceiveServices } from '../../lib/relay/services.ts';
import type { Process, Story } from './process.ts';
import type { SecretContents } from './secrets.ts';

/** What a mutation may reach. */
export interface MutationTools {
  readonly process: Process;
  readonly story: Story;
  readonly file: SqliteFile;
  /** The ledger beneath everything that can go wrong. */
  readonly bareLedger: Ledger;
  readonly secrets: SecretContents;
}

/** A relay that is broken on purpose: each wrapper stands between a story and one of its ports. */
export interface Mutation {
  readonly settings?: (settings: Settings) => Settings;
  readonly ledger?: (ledger: Ledger, tools: MutationTools) => Ledger;
  readonly copies?: (copies: MarketCopies, tools: MutationTools) => MarketCopies;
  /** @param client by which the catalogue asks the exchange */
  readonly markets?: (catalogue: MarketCatalogue, client: ExchangeClient) => MarketCatalogue;
  readonly queue?: (queue: SignalQueue, tools: MutationTools) => SignalQueue;
  readonly client?: (client: ExchangeClient, tools: MutationTools) => ExchangeClient;
  readonly transport?: (transport: Transport, tools: MutationTools) => Transport;
  readonly alarms?: (alarms: Alarms) => Alarms;
  /** Between the door and what it looks for in every alert. */
  readonly heldSecrets?: (held: ReceiveServices['heldSecrets']) => ReceiveServices['heldSecrets'];
  readonly door?: (handler: WebhookHandler, tools: MutationTools) => WebhookHandler;
}

export interface Mutant {
  readonly name: string;
  /** What is wrong with it, in a few words. */
  readonly breaks: string;
  /** Within so many seeds of this dialect, from 1 on, an invariant must be broken. */
  readonly seeds: number;
  readonly dialect: Dialect;
  readonly mutation: Mutation;
  /** The kinds of order of which one must be drawn; absent: any. */
  readonly kinds?: readonly OrderKindName[];
}
