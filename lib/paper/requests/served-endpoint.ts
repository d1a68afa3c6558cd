import type { PaperEndpoint } from './request-context.ts';

/**
 * A public endpoint that the relay does not read. Other clients read it before their first order.
 *
 * @param path without `/api`, for example `/v4/public/assets`
 */
export function publicEndpoint(name: string, path: string): PaperEndpoint {
  return {
    name,
    method: 'GET',
    path: { documented: `/api${path}`, live: `/api${path}` },
    access: 'public',
    availability: 'live-only',
    repeatable: true,
    requestsPer10s: 2000,
  };
}

/** A private endpoint that reads and that the relay does not need. */
export function readingEndpoint(name: string, path: string, fields?: PaperEndpoint['fields']): PaperEndpoint {
  return {
    ...publicEndpoint(name, path),
    method: 'POST',
    access: 'private',
    ...(fields === undefined ? {} : { fields }),
  };
}

/** A private endpoint that changes something and that the relay does not call. */
export function commandEndpoint(name: string, path: string, requestsPer10s: number): PaperEndpoint {
  return { ...readingEndpoint(name, path), repeatable: false, requestsPer10s };
}

/** Reports of pairs have more snake case than other reports. */
export const pairFields: NonNullable<PaperEndpoint['fields']> = {
  live: {
    stopLoss: 'stop_loss',
    takeProfit: 'take_profit',
    postOnly: 'post_only',
    activationPrice: 'activation_price',
    activationCondition: 'activation_condition',
  },
};
