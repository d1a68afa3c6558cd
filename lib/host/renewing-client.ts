import type { Clock } from '../base/clock.ts';
import type { ExchangeClient, PreparedRequest, SendOptions } from '../exchange/client.ts';
import type { Endpoint, ParamsOf, ResultOf } from '../exchange/endpoint.ts';
import { ExchangeError } from '../exchange/errors.ts';

/**
 * Creates a client that reads a newer key when the exchange
 * refuses its key, and then sends the request once more.
 *
 * An order is still sent at most once: a refused key proves that the exchange
 * rejected the first request, so only the second one can become an order.
 *
 * @param renew returns a client with another key; null when there is none
 * @see DECISIONS 36
 */
export function createRenewingClient(
  signing: ExchangeClient,
  clock: Clock,
  renew: () => Promise<ExchangeClient | null>,
): ExchangeClient {
  function prepare<E extends Endpoint>(endpoint: E, params: ParamsOf<E>): PreparedRequest<ResultOf<E>> {
    const request = signing.prepare(endpoint, params);

    async function sendRenewed(
      refused: ExchangeError,
      options: SendOptions,
      startedAtMs: number,
    ): Promise<ResultOf<E>> {
      // If the newer key cannot be read, the caller still gets the exchange's refusal.
      const renewed = await renew().catch(() => null);
      if (renewed === null || (await isGivenUp(endpoint, options))) throw refused;
      try {
        return await renewed.call(endpoint, params, shorten(options, clock.nowMs() - startedAtMs));
      } catch (error) {
        if (!(error instanceof ExchangeError)) throw error;
        throw new ExchangeError(endpoint, [...refused.attempts, ...error.attempts]);
      }
    }

    return {
      method: request.method,
      path: request.path,
      get fields() {
        return request.fields;
      },
      async send(options = {}) {
        const startedAtMs = clock.nowMs();
        try {
          return await request.send(options);
        } catch (error) {
          if (!isKeyRefused(error)) throw error;
          return await sendRenewed(error, options, startedAtMs);
        }
      },
    };
  }

  return {
    dialect: signing.dialect,
    prepare,
    call: async (endpoint, params, options) => await prepare(endpoint, params).send(options),
  };
}

/**
 * Whether the reconciler has taken the signal over meanwhile:
 * then a request that must not happen twice is not sent.
 */
async function isGivenUp({ repeatable }: Endpoint, { isStillOwn }: SendOptions): Promise<boolean> {
  return !repeatable && (await isStillOwn?.()) === false;
}

/**
 * Uses the HTTP status: the exchange has several messages for
 * a refused key, and some of them have other meanings.
 */
function isKeyRefused(error: unknown): error is ExchangeError {
  if (!(error instanceof ExchangeError) || error.failure.kind !== 'rejected') return false;
  return error.failure.httpStatus === 401 || error.failure.httpStatus === 403;
}

/** Both attempts share the time limit of one. */
function shorten(options: SendOptions, spentMs: number): SendOptions {
  return options.timeoutMs === undefined
    ? options
    : { ...options, timeoutMs: Math.max(0, options.timeoutMs - spentMs) };
}
