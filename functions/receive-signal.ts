import { createWebhook, type WebhookHandler } from '../lib/host/webhook.ts';
import { receiveSignal } from '../lib/relay/receive-signal.ts';
import type { ReceiveServices } from '../lib/relay/services.ts';

/** `POST /signals/{account}/{token}`: takes alerts in. */
export function createReceiveSignal(services: ReceiveServices): WebhookHandler {
  return createWebhook(services.log, (event, body) =>
    receiveSignal(services, {
      account: event.pathParameters?.['account'] ?? '',
      token: event.pathParameters?.['token'] ?? '',
      body,
    }),
  );
}
