import { receiveSignal } from '../relay/receive-signal.ts';
import type { ReceiveServices } from '../relay/services.ts';
import { createWebhook, type WebhookHandler } from './webhook.ts';

/**
 * The webhook, `POST /signals/{account}/{token}`: receives alerts.
 *
 * @param responseTimeoutMs see `createWebhook`
 */
export function createReceiveSignal(services: ReceiveServices, responseTimeoutMs?: number): WebhookHandler {
  return createWebhook(
    services.log,
    (event, body) =>
      receiveSignal(services, {
        account: event.pathParameters?.['account'] ?? '',
        token: event.pathParameters?.['token'] ?? '',
        body,
      }),
    responseTimeoutMs,
  );
}
