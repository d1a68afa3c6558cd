import { openReceiveServices } from '../lib/host/aws-services.ts';
import { createReceiveSignal } from '../lib/host/webhook.ts';
import config from '../relay.config.ts';

/**
 * TradingView hangs up after 3 s and does not resend then; a 503 it does resend. The rest is for the way and a start.
 *
 * @see https://www.tradingview.com/support/solutions/43000529348-about-webhooks/
 */
const responseTimeoutMs = 2_000;

/** Behind `POST /signals/{account}/{token}`. */
export const handler = createReceiveSignal(openReceiveServices(config, process.env), responseTimeoutMs);
