import { once } from 'node:events';
import { connect } from 'node:tls';
import type { Session } from '../session/session.ts';
import { type Check, fail, pass, warn } from './check.ts';

const timeoutMs = 5_000;
const dayMs = 86_400_000;
/** Proxies that renew a certificate themselves do so about a month before its end. */
const soonMs = 21 * dayMs;

/** A certificate as a server presents it. */
export interface PresentedCertificate {
  readonly validUntilMs: number;
  /** Why this machine does not accept it; null: it does. */
  readonly complaint: string | null;
}

/**
 * Checks the certificate of the address to which TradingView posts, where that is an https address of the owner. That of a
 * stack is looked after by AWS.
 */
export async function checkCertificate(session: Session): Promise<readonly Check[]> {
  const [account] = Object.values(session.settings.accounts);
  if (session.target.kind === 'stack' || account === undefined) return [];
  const url = await session.readWebhookUrl(account).catch(() => null);
  const address = url === null ? null : URL.parse(url);
  if (address?.protocol !== 'https:') return [];
  const presented = await readCertificate(address).catch(() => null);
  return [judgeCertificate(address.host, presented, session.clock.nowMs())];
}

/** @throws Error when nothing answers in time */
export async function readCertificate({
  hostname,
  port,
}: Pick<URL, 'hostname' | 'port'>): Promise<PresentedCertificate> {
  // It is read whatever it is: one that is not accepted must be told, too. Nothing is sent.
  const socket = connect({
    host: hostname,
    port: port === '' ? 443 : Number(port),
    servername: hostname,
    rejectUnauthorized: false,
  });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeoutMs) });
    const validUntilMs = Date.parse(socket.getPeerCertificate().valid_to);
    const { authorized, authorizationError } = socket;
    return { validUntilMs, complaint: authorized ? null : String(authorizationError) };
  } finally {
    socket.destroy();
  }
}

/** @param presented null: nothing answered */
export function judgeCertificate(host: string, presented: PresentedCertificate | null, nowMs: number): Check {
  const name = 'certificate';
  const advice = 'Let the proxy in front of the relay renew it. While it is not valid, no alert arrives.';
  if (presented === null)
    return warn(name, `${host} does not answer from here`, 'Check the address and the proxy behind it.');
  const { validUntilMs, complaint } = presented;
  const until = new Date(validUntilMs).toISOString().slice(0, 10);
  if (validUntilMs <= nowMs) return fail(name, `that of ${host} has ended on ${until}`, advice);
  if (complaint !== null) return fail(name, `that of ${host} is not accepted: ${complaint}`, advice);
  return validUntilMs - nowMs < soonMs
    ? warn(name, `that of ${host} ends on ${until}`, advice)
    : pass(name, `that of ${host} is valid until ${until}`);
}
