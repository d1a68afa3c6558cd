import type { APIGatewayProxyEvent } from 'aws-lambda';
import { createExchangeClients, type ExchangeClients } from '../../lib/host/exchange-clients.ts';
import type { ScheduleHandler } from '../../lib/host/schedule.ts';
import { createSchedule } from '../../lib/host/schedule.ts';
import type { SecretHolder } from '../../lib/host/secrets.ts';
import { tellOddities } from '../../lib/host/telling-client.ts';
import { createWebhook, type WebhookHandler } from '../../lib/host/webhook.ts';
import type { ContestedFacts } from '../../lib/ledger/account-facts.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { tradedMarkets } from '../../lib/model/settings.ts';
import type { SignalQueue } from '../../lib/queue/queue.ts';
import { createMarketCatalogue, type MarketCatalogue } from '../../lib/relay/execute/market-catalogue.ts';
import { createFollower, type Follower } from '../../lib/relay/follow/follow-orders.ts';
import { createOverloadWatch } from '../../lib/relay/receive/overload.ts';
import { createQueuedEntrance } from '../../lib/relay/receive/queued-entrance.ts';
import { receiveSignal } from '../../lib/relay/receive/receive-signal.ts';
import { createRepeatWatch } from '../../lib/relay/receive/repeated-alert.ts';
import type { ExecuteServices } from '../../lib/relay/services.ts';
import type { ResolveServices } from '../../lib/relay/settle/resolve-signal.ts';
import { runMinute } from '../../lib/relay/settle/run-minute.ts';
import type { Alert } from './alerts.ts';
import { createWatchedCatalogue } from './market-list.ts';
import type { MutationTools } from './mutation.ts';
import { createSimulatedTransport } from './network.ts';
import type { HandlerName, Process } from './process.ts';
import { exchangeAddress, type SimulatedWorld } from './simulated-world.ts';
import {
  createSteppedCopies,
  createSteppedExecutions,
  createSteppedFacts,
  createSteppedLedger,
  createSteppedQueue,
} from './stepped-stores.ts';

/** What the handlers of one process are composed from. */
export interface HandlerParts {
  readonly world: SimulatedWorld;
  readonly process: Process;
  /** Null when the ledger is the line of waiting signals. */
  readonly queue: SignalQueue | null;
  /** Absent: the ledger of the world. */
  readonly ledger?: Ledger;
  /** Absent: those of the world. */
  readonly executions?: Executions;
  readonly facts?: ContestedFacts;
  readonly secrets: SecretHolder;
  readonly timeouts: { readonly exchangeMs: number; readonly marketsMs: number; readonly lookupsMs: number };
}

/** The real handlers of a process, over ports with injected faults; each is built when it is called for. */
export interface Handlers {
  receive(): WebhookHandler;
  execute(): ExecuteServices;
  reconcile(): ScheduleHandler;
  /** What follows the orders of a local relay. */
  follow(): Follower;
  /** The services with which the operator's tool settles signals. */
  resolve(): ResolveServices;
}

export function composeHandlers(parts: HandlerParts): Handlers {
  const { world, process, secrets, timeouts } = parts;
  let clients: ExchangeClients | null = null;

  /** One set for the whole process: executing and reconciling share nonces, rate budgets and connections. */
  function clientsOf(tools: MutationTools): ExchangeClients {
    const transport = createSimulatedTransport(process, world.exchange);
    clients ??= createExchangeClients({
      address: exchangeAddress,
      dialect: world.dialect,
      secrets,
      clock: process.clock,
      random: process.stage.random,
      transport: world.mutation.transport?.(transport, tools) ?? transport,
    });
    return clients;
  }

  function exchangeFor(tools: MutationTools) {
    const mutated = async (account: string) => {
      const clientFor = clientsOf(tools).forAccount;
      const client = await clientFor(account);
      return world.mutation.client?.(client, { ...tools, account, clientFor }) ?? client;
    };
    return tellOddities(mutated, shareServices(parts, tools.handlerName));
  }

  function openMarkets(tools: MutationTools): MarketCatalogue {
    const { anonymous: client } = clientsOf(tools);
    const copies = createSteppedCopies(process, world.copies);
    const catalogue = createMarketCatalogue({
      client,
      clock: process.clock,
      log: process.log,
      copies: world.mutation.copies?.(copies, tools) ?? copies,
      traded: tradedMarkets(world.settings),
      timeoutMs: timeouts.marketsMs,
    });
    const mutated = world.mutation.markets?.(catalogue, client) ?? catalogue;
    return createWatchedCatalogue(process, mutated);
  }

  /** Puts signals that the relay itself makes in line. */
  function entranceOf({ ledger, queue }: Pick<ReturnType<typeof shareServices>, 'ledger' | 'queue'>) {
    return queue === null ? ledger : createQueuedEntrance(ledger, queue);
  }

  function reconcileServices() {
    const shared = shareServices(parts, 'reconcile');
    return {
      ...shared,
      entrance: entranceOf(shared),
      isPaperExchange: false,
      exchangeFor: exchangeFor(toolsOf(parts, 'reconcile')),
      exchangeTimeoutMs: timeouts.lookupsMs,
      commandOptions: '',
    };
  }

  return {
    receive() {
      const tools = toolsOf(parts, 'receive');
      const { queue, ...shared } = shareServices(parts, 'receive');
      const services = {
        ...shared,
        ledger: queue === null ? shared.ledger : createQueuedEntrance(shared.ledger, queue),
        webhookTokens: secrets.webhookTokens,
        heldSecrets: world.mutation.heldSecrets?.(secrets.heldSecrets) ?? secrets.heldSecrets,
        overload: createOverloadWatch(),
        repeats: createRepeatWatch(parts.process.name),
      };
      const handler = createWebhook(shared.log, (request) => receiveSignal(services, request));
      return world.mutation.webhook?.(handler, tools) ?? handler;
    },
    execute() {
      const tools = toolsOf(parts, 'execute');
      const shared = shareServices(parts, 'execute');
      return {
        ...shared,
        entrance: entranceOf(shared),
        markets: openMarkets(tools),
        isPaperExchange: false,
        exchangeFor: exchangeFor(tools),
        exchangeTimeoutMs: timeouts.exchangeMs,
      };
    },
    reconcile() {
      const services = reconcileServices();
      // On AWS the reconciler follows the orders; a local relay has a loop for it.
      const follower = parts.queue === null ? null : createFollower(services);
      return createSchedule('reconcile-signals', services.log, () => runMinute(services, follower));
    },
    follow: () => createFollower(reconcileServices()),
    resolve: () => ({
      ...shareServices(parts, 'resolve'),
      exchangeFor: exchangeFor(toolsOf(parts, 'resolve')),
      exchangeTimeoutMs: timeouts.lookupsMs,
    }),
  };
}

/** What a mutation may use in a handler. */
export function toolsOf(
  { world, process }: Pick<HandlerParts, 'world' | 'process'>,
  handlerName: HandlerName,
): MutationTools {
  return {
    process,
    handlerName,
    file: world.file,
    secrets: world.secrets,
    account: null,
    clientFor: () => Promise.reject(new Error('only the mutation of a client has the clients')),
  };
}

function shareServices(parts: HandlerParts, handlerName: HandlerName) {
  const { world, process } = parts;
  const { mutation, settings } = world;
  const tools = toolsOf(parts, handlerName);
  const ledger = createSteppedLedger(process, parts.ledger ?? world.ledger);
  const executions = createSteppedExecutions(process, parts.executions ?? world.executions);
  const facts = createSteppedFacts(process, parts.facts ?? world.facts);
  const queue = parts.queue === null ? null : createSteppedQueue(process, parts.queue);
  return {
    clock: process.clock,
    log: process.log,
    alarms: mutation.alarms?.(process.alarms) ?? process.alarms,
    settings,
    ledger: mutation.ledger?.(ledger, tools) ?? ledger,
    executions: mutation.executions?.(executions, tools) ?? executions,
    facts: mutation.facts?.(facts, tools) ?? facts,
    queue: queue === null ? null : (mutation.queue?.(queue, tools) ?? queue),
  };
}

/** The parts of API Gateway's event that the webhook reads. */
export function toProxyEvent({ account, body }: Alert, token: string): APIGatewayProxyEvent {
  return {
    httpMethod: 'POST',
    pathParameters: { account, token },
    body: Buffer.from(body).toString('base64'),
    isBase64Encoded: true,
  } as unknown as APIGatewayProxyEvent;
}
