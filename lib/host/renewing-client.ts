import type { Clock } from '../base/clock.ts';
import type { ExchangeClient, PreparedRequest, SendOptions } from '../exchange/client.ts';
import type { Endpoint, ParamsOf, ResultOf } from '../exchange/endpoint.ts';
import { ExchangeError } from '../exchange/errors.ts';

/**
 * A client that looks for a newer key when the exchange refuses the one it has, and sends the request once more.
 *
 * This keeps the promise to put an order on the wire at most once: a refused key is a proven refusal of the request,
 * and what is sent then is the only request that can become an order.
 *
 * @param renew a client with another key; null when there is none
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
      // What cannot be looked up is no reason to forget that the exchange refused.
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

/** What must not happen twice is not sent once more by a caller that was taken for dead meanwhile. */
async function isGivenUp({ repeatable }: Endpoint, { isStillOwn }: SendOptions): Promise<boolean> {
  return !repeatable && (await isStillOwn?.()) === false;
}

/** The exchange has several words for it, and uses some of them for other things: its HTTP status is the sign. */
function isKeyRefused(error: unknown): error is ExchangeError {
  if (!(error instanceof ExchangeError) || error.failure.kind !== 'rejected') return false;
  return error.failure.httpStatus === 401 || error.failure.httpStatus === 403;
}

/** Both tries share the time of one. */
function shorten(options: SendOptions, spentMs: number): SendOptions {
  return options.timeoutMs === undefined
    ? options
    : { ...options, timeoutMs: Math.max(0, options.timeoutMs - spentMs) };
}
