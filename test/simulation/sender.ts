import type { Credentials } from '../../lib/exchange/client.ts';
import type { Alert } from './alerts.ts';
import { writeCarelessly } from './careless-scripts.ts';
import type { Deployment, Reply } from './deployment.ts';
import { pickOne, rollWhole } from './dice.ts';
import { insertSecret, pickPlace } from './disguise.ts';
import type { Stage } from './process.ts';
import type { SecretContents } from './secrets.ts';

const mostSends = 4;
const resendAfterMs = 5000;
const waitsMs = 3000;
const longestWayMs = 300;
const longestLateMs = 60_000;
const longestDoubleMs = 60_000;
const forgedToken = 'a-token-that-was-never-valid';

const isOf =
  (secret: string) =>
  ({ apiKey, apiSecret }: Credentials): boolean =>
    secret === apiKey || secret === apiSecret;

/**
 * Sends alerts as TradingView does. After a 5xx other than 504 it sends the same bytes again, every 5 s and
 * at most three more times. After 3 s without a response it gives up.
 *
 *
 * @see https://www.tradingview.com/support/solutions/43000529348-about-webhooks/
 */
export class Sender {
  readonly #stage: Stage;
  readonly #deployment: Deployment;
  readonly #secrets: SecretContents;

  constructor(stage: Stage, deployment: Deployment, secrets: SecretContents) {
    this.#stage = stage;
    this.#deployment = deployment;
    this.#secrets = secrets;
  }

  /** Sends the alert as its script writes it, and what the script fires later; to be called at the time when it fires. */
  fire(drawn: Alert): void {
    const { loop, random, faults } = this.#stage;
    const { alert, hazard, successors } = writeCarelessly(drawn, faults, random);
    if (hazard !== null) this.#note(alert, 'identifies itself badly', `hazard: ${hazard}`);
    this.#fireWritten(alert);
    for (const later of successors) loop.schedule(later.afterMs, () => this.#fireWritten(later.alert));
  }

  #fireWritten(drawn: Alert): void {
    const { loop, random, faults } = this.#stage;
    const token = drawn.isForged ? forgedToken : (this.#secrets.tokens.get(drawn.account)?.current ?? '');
    const alert = this.#perhapsInsertSecret(drawn, token);
    const isLate = faults.strikes('alert_late');
    const delayMs = isLate ? rollWhole(random, 5000, longestLateMs) : rollWhole(random, 0, 2000);
    if (isLate) this.#note(alert, 'is late', 'hazard: alert_late');
    loop.schedule(delayMs, () => this.#send(alert, token, 1));
    if (!faults.strikes('alert_doubled')) return;
    this.#note(alert, 'will come twice', 'hazard: alert_doubled');
    loop.schedule(delayMs + rollWhole(random, 0, longestDoubleMs), () => this.#send(alert, token, mostSends));
  }

  /** Puts a secret into the message, as a careless owner might, with one character escaped. */
  #perhapsInsertSecret(alert: Alert, token: string): Alert {
    const { random, faults } = this.#stage;
    if (!faults.strikes('secret_in_alert')) return alert;
    const [first = token, ...others] = this.#deployment.secretsAtWebhook(alert.account);
    const secret = pickOne(random, [first, ...others]);
    // A token of another account may be replaced before the alert arrives, and is then no longer a secret.
    const isSureToBeHeld = secret === token || [...this.#secrets.keys.values()].some(isOf(secret));
    this.#note(alert, 'contains a secret', 'hazard: secret_in_alert');
    return insertSecret(alert, secret, pickPlace(random, isSureToBeHeld), random);
  }

  #send(alert: Alert, token: string, attempt: number): void {
    const { loop, random, faults, history } = this.#stage;
    history.alertsSent += 1;
    if (attempt > 1) this.#note(alert, `is sent again (${attempt})`, 'sender: resend');
    if (faults.strikes('alert_lost')) this.#note(alert, 'is lost on its way', 'hazard: alert_lost');
    else loop.schedule(rollWhole(random, 1, longestWayMs), () => void this.#deliver(alert, token, attempt));
  }

  async #deliver(alert: Alert, token: string, attempt: number): Promise<void> {
    const arrivedAtMs = this.#stage.loop.nowMs;
    const reply = await this.#deployment.receive(alert, token);
    this.#record(alert, reply);
    const isInTime = this.#stage.loop.nowMs - arrivedAtMs < waitsMs;
    if (!isInTime || attempt >= mostSends || !this.#asksForMore(alert, reply)) return;
    this.#stage.loop.schedule(resendAfterMs, () => this.#send(alert, token, attempt + 1));
  }

  #record(alert: Alert, reply: Reply): void {
    const { loop, history } = this.#stage;
    history.replies.push(reply === 'broken' ? 'none' : String(reply.httpStatus));
    if (reply === 'broken') this.#note(alert, 'gets no response', 'sender: broken connection');
    else {
      this.#note(alert, `gets a response ${reply.httpStatus}`, null);
      history.responses.push({ atMs: loop.nowMs, alert, ...reply });
    }
  }

  /** Whether the sender sends again. When the relay is gone, a proxy in front of it may respond with 502. */
  #asksForMore(alert: Alert, reply: Reply): boolean {
    const { faults } = this.#stage;
    if (faults.strikes('response_lost')) {
      this.#note(alert, 'never gets the response', 'hazard: response_lost');
      return false;
    }
    if (reply === 'broken') {
      if (!faults.strikes('gateway_502')) return false;
      this.#note(alert, 'gets a 502 from a proxy', 'hazard: gateway_502');
      return true;
    }
    if (reply.httpStatus < 500 || reply.httpStatus === 504) return false;
    if (!faults.strikes('sender_gives_up')) return true;
    this.#note(alert, 'is not sent again', 'hazard: sender_gives_up');
    return false;
  }

  #note({ name }: Alert, what: string, fault: string | null): void {
    this.#stage.history.note(this.#stage.loop.nowMs, 'sender', `${name} ${what}`, fault);
  }
}
