import type { Transport, WireOutcome } from '../../lib/base/wire.ts';
import type { ExchangeClient, PreparedRequest, SendOptions } from '../../lib/exchange/client.ts';
import type { Endpoint, ParamsOf, ResultOf } from '../../lib/exchange/endpoint.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { endedOrder } from '../../lib/exchange/endpoints/ended-order.ts';
import { executedHistory } from '../../lib/exchange/endpoints/executed-history.ts';
import { ExchangeError, wasTurnedAway } from '../../lib/exchange/errors.ts';
import { findOrder, type OrderName } from '../../lib/exchange/find-order.ts';
import { override } from '../support/override.ts';
import { rollWhole } from './dice.ts';
import { cancelledOrder, emptyPage } from './mutate.ts';
import type { Mutant, Mutation } from './mutation.ts';

type Send = (options?: SendOptions) => Promise<unknown>;
type Prepare = () => PreparedRequest<unknown>;

type Choice = (endpoint: Endpoint) => boolean;

const isCreating: Choice = ({ repeatable }) => !repeatable;
const isCancelling: Choice = ({ name }) => name === cancelOrder.name;

/** A client that sends the requests of the chosen endpoints in another way. */
function changeSend(
  isChosen: Choice,
  change: (send: Send, prepareAgain: Prepare, params: object, client: ExchangeClient) => Send,
): Mutation {
  return {
    client: (client) =>
      override(client, {
        prepare<E extends Endpoint>(asked: E, params: ParamsOf<E>): PreparedRequest<ResultOf<E>> {
          const request = client.prepare(asked, params);
          if (!isChosen(asked)) return request;
          const send = change(
            (options) => request.send(options),
            () => client.prepare(asked, params),
            params as object,
            client,
          );
          return override(request, { send: send as (options?: SendOptions) => Promise<ResultOf<E>> });
        },
      }),
  };
}

/** A transport that changes some outcomes into others. */
function misread(change: (outcome: WireOutcome, path: string) => WireOutcome): Mutation {
  return {
    transport: (transport): Transport => ({
      send: async (request) => change(await transport.send(request), request.path),
      close: () => transport.close(),
    }),
  };
}

const refusal: WireOutcome = {
  kind: 'answered',
  status: 422,
  body: JSON.stringify({ code: 30, message: 'Validation failed', errors: {} }),
};

function isLost(error: unknown): boolean {
  return error instanceof ExchangeError && error.failure.kind === 'ambiguous';
}

function isTurnedAway(error: unknown): boolean {
  return error instanceof ExchangeError && wasTurnedAway(error);
}

/** Gives each order a client order id that does not derive from its signal. */
function renameOrders(client: ExchangeClient, drawNumber: () => number): ExchangeClient {
  return override(client, {
    prepare<E extends Endpoint>(endpoint: E, params: ParamsOf<E>) {
      if (!isCreating(endpoint)) return client.prepare(endpoint, params);
      const renamed = { ...(params as object), clientOrderId: `tr-${drawNumber()}` };
      return client.prepare(endpoint, renamed as ParamsOf<E>);
    },
  });
}

const closedLists: ReadonlySet<string> = new Set([endedOrder.name, executedHistory.name]);

/** Broken variants of the relay that misjudge requests to the exchange and their responses. */
export const wireMutants: readonly Mutant[] = [
  {
    name: 'resend-on-timeout',
    breaks: 'a create whose response was lost is prepared and sent again',
    seeds: 100,
    dialect: 'live',
    mutation: changeSend(isCreating, (send, prepareAgain) => async (options) => {
      try {
        return await send(options);
      } catch (error) {
        if (!isLost(error)) throw error;
        return await prepareAgain().send(options);
      }
    }),
  },
  {
    name: 'random-client-id',
    breaks: 'each order has a random client order id',
    seeds: 100,
    dialect: 'live',
    mutation: {
      client: (client, { process }) => renameOrders(client, () => rollWhole(process.stage.random, 1, 1e9)),
    },
  },
  {
    name: 'timeout-means-not-sent',
    breaks: 'a lost response is treated as proof that the request was not sent',
    seeds: 100,
    fromSeed: 37,
    dialect: 'live',
    mutation: misread((outcome) =>
      outcome.kind === 'ambiguous' ? { kind: 'not_sent', reason: outcome.reason } : outcome,
    ),
  },
  {
    name: 'status-alone-rejects',
    breaks: 'any 5xx is treated as a rejection',
    seeds: 300,
    fromSeed: 121,
    dialect: 'live',
    mutation: misread((outcome) =>
      outcome.kind === 'answered' && outcome.status >= 500 ? refusal : outcome,
    ),
  },
  {
    name: 'gateway-rejects',
    breaks: 'an HTML page of a gateway with HTTP 403 is treated as a rejection by the exchange',
    seeds: 300,
    fromSeed: 151,
    dialect: 'live',
    mutation: misread((outcome) =>
      outcome.kind === 'answered' && outcome.status === 403 && outcome.body.startsWith('<')
        ? refusal
        : outcome,
    ),
  },
  {
    name: 'unconfirmed-refusal',
    breaks: 'a refusal is believed without the confirmation that the connection is in step',
    seeds: 300,
    fromSeed: 484,
    dialect: 'live',
    mutation: {
      transport: (transport): Transport => ({
        send: ({ confirmation: _, ...request }) => transport.send(request),
        close: () => transport.close(),
      }),
    },
  },
  {
    name: 'trust-429',
    breaks:
      'HTTP 429 is treated as proof that the order was not accepted, and a create is sent again at once',
    seeds: 100,
    dialect: 'live',
    mutation: changeSend(isCreating, (send, prepareAgain) => async (options) => {
      try {
        return await send(options);
      } catch (error) {
        if (!isTurnedAway(error)) throw error;
        return await prepareAgain().send(options);
      }
    }),
  },
  {
    name: 'trust-lists',
    breaks: 'an order is sent again after HTTP 429 as soon as no list shows it',
    seeds: 300,
    fromSeed: 22,
    dialect: 'live',
    mutation: changeSend(isCreating, (send, prepareAgain, params, client) => async (options = {}) => {
      try {
        return await send(options);
      } catch (error) {
        if (!isTurnedAway(error)) throw error;
        const { notAfterMs: _, ...limits } = options;
        const place = await findOrder(client, params as OrderName, limits).catch(() => null);
        if (place?.kind !== 'not_found') throw error;
        return await prepareAgain().send(options);
      }
    }),
  },
  {
    name: 'used-id-rejects',
    breaks: '"this client order id is already used" is treated as a rejection of the order',
    seeds: 400,
    fromSeed: 238,
    dialect: 'live',
    mutation: misread((outcome) =>
      outcome.kind === 'answered' && outcome.body.includes('already used') ? refusal : outcome,
    ),
  },
  {
    name: 'unread-answer',
    breaks: 'an acceptance is not compared with the requested order',
    seeds: 100,
    fromSeed: 145,
    dialect: 'live',
    mutation: changeSend(isCreating, (send, _, params) => async (options) => {
      const order = await send(options);
      return { ...(order as object), ...params };
    }),
  },
  {
    name: 'hopeful-cancel',
    breaks: 'a cancellation without a response within 300 ms is treated as done',
    seeds: 300,
    fromSeed: 141,
    dialect: 'live',
    mutation: changeSend(isCancelling, (send) => async (options) => {
      try {
        return await send({ ...options, timeoutMs: 300 });
      } catch (error) {
        if (!isLost(error)) throw error;
        return cancelledOrder;
      }
    }),
  },
  {
    name: 'late-retries',
    breaks: 'a retry does not check whether the signal is still fresh',
    seeds: 1000,
    fromSeed: 233,
    dialect: 'documented',
    mutation: changeSend(
      isCreating,
      (send) =>
        ({ notAfterMs: _, ...options } = {}) =>
          send(options),
    ),
  },
  {
    name: 'open-list-only',
    breaks: 'an order is looked up only among the open ones',
    seeds: 100,
    dialect: 'live',
    mutation: {
      client: (client) =>
        override(client, {
          async call<E extends Endpoint>(endpoint: E, params: ParamsOf<E>, options?: SendOptions) {
            if (closedLists.has(endpoint.name)) return emptyPage as ResultOf<E>;
            return await client.call(endpoint, params, options);
          },
        }),
    },
  },
  {
    name: 'leaking-signature',
    breaks: 'the headers of a failed request are logged',
    seeds: 100,
    dialect: 'live',
    mutation: {
      transport: (transport, { process }) => ({
        async send(request) {
          const outcome = await transport.send(request);
          if (outcome.kind === 'ambiguous')
            process.log.warn('no response', { headers: { ...request.headers } });
          return outcome;
        },
        close: () => transport.close(),
      }),
    },
  },
];
