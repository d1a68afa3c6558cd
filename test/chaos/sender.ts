import { createHash } from 'node:crypto';
import { request as issueRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type PlannedAlert, writeBody } from './alerts.ts';

/** One delivery of an alert's bytes. */
export interface Delivery {
  readonly atMs: number;
  /** Until the response, or until it was given up. */
  readonly tookMs: number;
  /** Null: the connection was refused, broke or hung. */
  readonly httpStatus: number | null;
  /** The signal ids in the response. */
  readonly signalIds: readonly string[];
  /** Why there was no response, or the code of a refusal; empty after a success. */
  readonly reason: string;
}

/** An alert and the responses to its sender. */
export interface SentAlert extends Pick<PlannedAlert, 'account' | 'signals' | 'flaw'> {
  /** SHA-256 of the bytes, in hex. */
  readonly fingerprint: string;
  readonly deliveries: readonly Delivery[];
}

/** TradingView's timeout. @see https://www.tradingview.com/support/solutions/43000529348-about-webhooks/ */
const responseTimeoutMs = 3_000;
const mostResends = 3;
/** TradingView's pause is 5 s; here it is shorter, because full disks are also short. */
const resendPauseMs = 1_000;

/**
 * Posts one alert as TradingView does. After an HTTP 5xx other than 504 it posts again after a pause, at most
 * three more times. Without a response it does not post again, except for the copies in the plan.
 *
 * @param webhookUrlOf returns the present URL of an account's webhook
 */
export async function sendAlert(
  alert: PlannedAlert,
  webhookUrlOf: (account: string) => string,
): Promise<SentAlert> {
  const { account, signals, flaw, copyAfterResponseMs, copyAfterSilenceMs } = alert;
  const body = Buffer.from(writeBody(alert, Date.now()));
  const deliveries: Delivery[] = [];

  async function deliver(): Promise<Delivery> {
    const delivery = await post(webhookUrlOf(account), body);
    deliveries.push(delivery);
    return delivery;
  }

  let last = await deliver();
  for (let resends = 0; resends < mostResends && isSentAgain(last); resends += 1) {
    await sleep(resendPauseMs);
    last = await deliver();
  }
  const copyAfterMs = last.httpStatus === null ? copyAfterSilenceMs : copyAfterResponseMs;
  if (copyAfterMs !== null) {
    await sleep(copyAfterMs);
    await deliver();
  }
  const fingerprint = createHash('sha256').update(body).digest('hex');
  return { account, signals, flaw, fingerprint, deliveries };
}

function isSentAgain({ httpStatus }: Delivery): boolean {
  return httpStatus !== null && httpStatus >= 500 && httpStatus !== 504;
}

/** Posts over a new connection, as TradingView's servers do. */
function post(url: string, body: Buffer): Promise<Delivery> {
  const atMs = Date.now();
  const startedAtMs = performance.now();
  const tookMs = () => performance.now() - startedAtMs;
  const silence = (reason: string): Delivery => ({
    atMs,
    tookMs: tookMs(),
    httpStatus: null,
    signalIds: [],
    reason,
  });
  return new Promise((resolve) => {
    const request = issueRequest(
      url,
      { method: 'POST', agent: false, timeout: responseTimeoutMs },
      (response) => {
        const chunks: Buffer[] = [];
        response
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('end', () =>
            resolve({
              atMs,
              tookMs: tookMs(),
              httpStatus: response.statusCode ?? 0,
              ...readResponse(chunks),
            }),
          )
          .on('error', (error) => resolve(silence(error.message)));
      },
    );
    // An idle connection is a hanging one, because the whole response comes at once.
    request.on('timeout', () => request.destroy(new Error('no response in time')));
    request.on('error', (error) => resolve(silence(error.message)));
    request.end(body);
  });
}

interface WebhookResponse {
  readonly signalId?: string;
  readonly signals?: readonly { readonly signalId: string }[];
  readonly error?: { readonly code: string };
}

function readResponse(chunks: readonly Buffer[]): Pick<Delivery, 'signalIds' | 'reason'> {
  const { signalId, signals = [], error } = JSON.parse(Buffer.concat(chunks).toString()) as WebhookResponse;
  const signalIds = signalId === undefined ? signals.map((signal) => signal.signalId) : [signalId];
  return { signalIds, reason: error?.code ?? '' };
}
