import { openReceiveServices } from '../lib/host/aws-services.ts';
import { keepingWarm } from '../lib/host/keep-warm.ts';
import { settling } from '../lib/host/recorded-alarms.ts';
import { readShippedConfig } from '../lib/host/shipped-config.ts';
import { createWebhook } from '../lib/host/webhook.ts';
import { receiveSignal } from '../lib/relay/receive/receive-signal.ts';
import { checkedConfig } from './checked-config.ts';

/**
 * TradingView closes the connection after 3 s and does not resend then, but it resends after a 503. The
 * second between is left for the network and a cold start.
 *
 * @see https://www.tradingview.com/support/solutions/43000529348-about-webhooks/
 */
const responseTimeoutMs = 2_000;

const services = openReceiveServices(readShippedConfig(checkedConfig), process.env);

/** Called by API Gateway for `POST /signals/{account}/{token}`, and by a schedule that keeps it warm. */
export const handler = keepingWarm(
  services,
  services.keepWarm,
  createWebhook(
    services.log,
    settling(services.alarms, (request: Parameters<typeof receiveSignal>[1]) =>
      receiveSignal(services, request),
    ),
    responseTimeoutMs,
  ),
);
