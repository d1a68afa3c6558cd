import { createRandom } from '../../lib/base/random.ts';
import type { Transport, WireOutcome, WireRequest } from '../../lib/base/wire.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import type { EntryKey } from '../../lib/ledger/entry.ts';
import { isFinal } from '../../lib/model/outcome.ts';
import { paperKeys } from '../../lib/paper/engine/accounts.ts';
import { changeList } from '../../lib/paper/faults/odd-lists.ts';
import type { EncodedResponse } from '../../lib/paper/server/exchange.ts';
import { contradictResponse } from './contradiction.ts';
import { rollWhole } from './dice.ts';
import type { SimulatedExchange } from './exchange.ts';
import type { WireFault } from './faults.ts';
import { isCancel, isCreate, keyText, type WireSend } from './history.ts';
import { currentInvocation, type Invocation, type Process } from './process.ts';
import { isPublicReading } from './readings.ts';

/** How a fault changes one request; absent fields change nothing. */
interface Spoiling {
  /** No connection is made, so the request is provably not sent: when that shows. */
  readonly notSent?: 'at_once' | 'when_connecting';
  /** The request never arrives. */
  readonly isLost?: boolean;
  readonly arrival?: 'after_deadline';
  /** Replaces the exchange's own response; the request may have taken effect. */
  readonly response?: EncodedResponse;
  /** The same in the documented dialect, where it differs. */
  readonly documentedResponse?: EncodedResponse;
  readonly isResponseLost?: boolean;
  readonly isSlow?: boolean;
  /** The response comes before that of the exchange, which stays on the connection. */
  readonly isSurplus?: boolean;
  /** An acceptance is changed to report another order. */
  readonly isContradicted?: boolean;
  /** The paths that it can strike; absent: all. */
  readonly only?: (path: string) => boolean;
}

const html = '<html><body>Please wait</body></html>';
const nonceRefusal = JSON.stringify({ code: 0, message: 'Too many requests.', errors: {} });
const usedId = JSON.stringify({
  code: 36,
  message: 'Validation failed',
  errors: { clientOrderId: ['This client order id is already used by the current account.'] },
});
const usedIdAsWritten = JSON.stringify({
  code: 30,
  message: 'Validation failed',
  errors: { client_order_id: ['This client order id is already used by the current account.'] },
});
const tooMany: Spoiling = {
  response: { status: 429, body: 'Too Many Requests' },
  documentedResponse: {
    status: 429,
    body: JSON.stringify({ code: 429, message: 'Too Many Requests', errors: {} }),
  },
};
const iocRefusal = JSON.stringify({
  code: 30,
  message: 'Validation failed',
  errors: { ioc: ['Ioc field is not available for this order type.'] },
});
const iocRefused: Spoiling = { isLost: true, response: { status: 422, body: iocRefusal } };
const refusal = JSON.stringify({ code: 30, message: 'Validation failed', errors: {} });
const surplus: Spoiling = { response: { status: 422, body: refusal }, isSurplus: true };

const spoilings: Readonly<Record<Exclude<WireFault, 'crash_before' | 'crash_after'>, Spoiling>> = {
  refused: { notSent: 'at_once' },
  hung: { notSent: 'when_connecting' },
  lost_before: { isLost: true },
  lost_after: { isResponseLost: true },
  arrives_late: { arrival: 'after_deadline' },
  slow: { isSlow: true },
  error_before: { isLost: true, response: { status: 503, body: 'Service Unavailable' } },
  error_after: { response: { status: 500, body: '{"error":["Internal server error."]}' } },
  gateway_page_after: { response: { status: 403, body: html } },
  garbage_after: { response: { status: 200, body: html } },
  nonce_429: { isLost: true, response: { status: 429, body: nonceRefusal } },
  rate_429: { isLost: true, ...tooMany },
  refusal: { isLost: true, response: { status: 422, body: refusal } },
  nonce_429_after: { response: { status: 429, body: nonceRefusal } },
  rate_429_after: tooMany,
  id_used_after: {
    response: { status: 422, body: usedId },
    documentedResponse: { status: 422, body: usedIdAsWritten },
    only: isCreate,
  },
  contradicts_after: { isContradicted: true, only: (path) => isCreate(path) || isCancel(path) },
};

function asksForIoc({ path, body }: Pick<WireRequest, 'path' | 'body'>): boolean {
  return isCreate(path) && (JSON.parse(body ?? '{}') as { readonly ioc?: boolean }).ioc === true;
}

function findSpoiling(fault: WireFault | null): Spoiling {
  return fault === null || fault === 'crash_before' || fault === 'crash_after' ? {} : spoilings[fault];
}

const longestWayMs = 40;
const longestLateMs = 20_000;
/**
 * How far an order list may lag behind.
 *
 * @see DECISIONS 52
 */
export const longestListLagMs = 30_000;
/** How far the list of positions may lag behind: less than the relay allows for. */
export const longestPositionLagMs = 8000;

/** The network between one process and the exchange. */
export function createSimulatedTransport(process: Process, exchange: SimulatedExchange): Transport {
  return {
    send: (request) => new Promise((resolve) => new Passage(process, exchange, request, resolve).begin()),
    close: () => undefined,
  };
}

/** One request: it may or may not arrive, its response may or may not come back, and the client times out. */
class Passage {
  readonly #process: Process;
  readonly #exchange: SimulatedExchange;
  readonly #request: WireRequest;
  readonly #name: string;
  readonly #resolve: (outcome: WireOutcome) => void;
  #spoiling: Spoiling = {};
  #send: WireSend | null = null;

  constructor(
    process: Process,
    exchange: SimulatedExchange,
    request: WireRequest,
    resolve: (outcome: WireOutcome) => void,
  ) {
    this.#process = process;
    this.#exchange = exchange;
    this.#request = request;
    this.#name = `wire ${request.path.replace('/api/v4/', '')}`;
    this.#resolve = resolve;
  }

  begin(): void {
    const fault = this.#drawFault();
    const isIocRefused = fault === null && this.#isIocRefused();
    const isSurplus = fault === 'refusal' && this.#isSurplus();
    const words = isIocRefused
      ? 'hazard: ioc_refused'
      : isSurplus
        ? 'hazard: surplus_response'
        : `wire: ${fault}`;
    this.#process.note(this.#name, fault === null && !isIocRefused ? null : words);
    if (fault === 'crash_before') {
      this.#process.die(`before ${this.#name}`);
      return;
    }
    this.#spoiling = isIocRefused ? iocRefused : isSurplus ? surplus : findSpoiling(fault);
    const { notSent } = this.#spoiling;
    if (notSent !== undefined) this.#failToConnect(notSent);
    else this.#depart(fault === 'crash_after');
  }

  #isIocRefused(): boolean {
    return asksForIoc(this.#request) && this.#process.stage.faults.strikes('ioc_refused');
  }

  /** Whether a refusal is one that no request asked for. Drawn from the time, so that it changes no other draw. */
  #isSurplus(): boolean {
    const { loop, faults } = this.#process.stage;
    const isPrivate = this.#request.body !== null;
    return isPrivate && faults.strikes('surplus_response') && createRandom(loop.nowMs)() < 0.5;
  }

  #drawFault(): WireFault | null {
    const { path } = this.#request;
    const fault = this.#process.stage.faults.onWire(path);
    if (fault === null || fault === 'crash_before' || fault === 'crash_after') return fault;
    return spoilings[fault].only?.(path) === false ? null : fault;
  }

  #depart(diesBeforeResponse: boolean): void {
    this.#noteSend();
    this.#process.later(this.#request.timeoutMs, () => this.#timeOut());
    this.#travel(diesBeforeResponse);
  }

  /** Records private requests, and of the public ones those that an order is sized or priced on. */
  #noteSend(): void {
    const { stage, clock } = this.#process;
    const { path, body, headers } = this.#request;
    if (body === null && !isPublicReading(path)) return;
    const invocation = currentInvocation();
    this.#send = {
      atMs: stage.loop.nowMs,
      relayNowMs: clock.nowMs(),
      path,
      body: body ?? '',
      signer: paperKeys.get(headers['X-TXC-APIKEY'] ?? '')?.account ?? null,
      invocation,
      key: invocation === null ? null : this.#senderOf(invocation),
      outcome: null,
      isContradicted: false,
    };
    stage.history.sends.push(this.#send);
  }

  /** An earlier signal of the market until that has its outcome, then the one whose message started the invocation. */
  #senderOf({ sender, key }: Invocation): EntryKey | null {
    const { history } = this.#process.stage;
    const status = sender === undefined ? undefined : history.statuses.get(keyText(sender))?.at(-1)?.status;
    return sender === undefined || (key !== null && status !== undefined && isFinal(status)) ? key : sender;
  }

  #failToConnect(when: 'at_once' | 'when_connecting'): void {
    const { connectTimeoutMs, timeoutMs } = this.#request;
    const delayMs = when === 'at_once' ? this.#wayMs() : Math.min(connectTimeoutMs, timeoutMs);
    this.#process.later(delayMs, () => this.#settle({ kind: 'not_sent', reason: 'no connection' }));
  }

  #timeOut(): void {
    this.#settle({ kind: 'ambiguous', reason: `no response within ${this.#request.timeoutMs} ms` });
  }

  #travel(diesBeforeResponse: boolean): void {
    const { loop, random } = this.#process.stage;
    const { isLost = false, arrival, isSlow = false } = this.#spoiling;
    const lateMs = arrival === undefined ? 0 : this.#request.timeoutMs + rollWhole(random, 1, longestLateMs);
    const slowMs = isSlow ? rollWhole(random, 100, this.#request.timeoutMs) : 0;
    const slowWayMs = isSlow && random() < 0.5 ? slowMs : 0;
    loop.schedule(this.#wayMs() + lateMs + slowWayMs, async () => {
      const response = isLost ? null : await this.#serve();
      if (diesBeforeResponse) this.#process.die(`before the response to ${this.#name}`);
      else if (this.#isOutOfStep(response)) this.#respond(null, 0);
      else this.#respond(this.#spoiltResponse() ?? response, slowMs - slowWayMs);
    });
  }

  /** Whether the connection is given up: what it carries after a refusal is not the response to the confirmation. */
  #isOutOfStep(response: EncodedResponse | null): boolean {
    const { confirmation } = this.#request;
    if (this.#spoiling.isSurplus !== true || confirmation === undefined || response === null) return false;
    return !confirmation.isExpected(response);
  }

  #spoiltResponse(): EncodedResponse | undefined {
    const { response, documentedResponse = response } = this.#spoiling;
    return this.#exchange.dialect === 'documented' ? documentedResponse : response;
  }

  async #serve(): Promise<EncodedResponse> {
    const { loop, random, faults, history } = this.#process.stage;
    const mostLagMs = this.#mostLagMs();
    const listLagMs = mostLagMs > 0 && faults.strikes('list_lag') ? rollWhole(random, 500, mostLagMs) : 0;
    const lagMs = listLagMs + this.#balanceLagMs();
    const response = await this.#exchange.serve(this.#request, loop.nowMs, lagMs);
    const lag = lagMs === 0 ? null : listLagMs === 0 ? 'hazard: balance_lag' : 'hazard: list_lag';
    history.note(loop.nowMs, 'exchange', `${this.#name} → ${response.status}`, lag);
    const oddity = this.#oddity();
    if (oddity === null || response.status !== 200) return response;
    history.note(loop.nowMs, 'exchange', `${this.#name} is odd`, `hazard: ${oddity}`);
    return { ...response, body: JSON.stringify(changeList(oddities[oddity], JSON.parse(response.body))) };
  }

  /** How the response is odd, if it is a list of orders, fills or positions. */
  #oddity(): keyof typeof oddities | null {
    const { path } = this.#request;
    const { faults } = this.#process.stage;
    const isOfOrders = this.#mostLagMs() === longestListLagMs && !path.includes('cancel');
    if (isOfOrders && faults.strikes('odd_word')) return 'odd_word';
    const isOfPositions = path === openPositions.path.live;
    return (isOfOrders || isOfPositions) && faults.strikes('odd_record') ? 'odd_record' : null;
  }

  /** Zero for a response that shows what is so at this moment. */
  #mostLagMs(): number {
    const { path } = this.#request;
    if (/orders|history|conditional|trade-account\/order$/.test(path)) return longestListLagMs;
    const { doPositionsLag } = this.#process.stage;
    return doPositionsLag && path === openPositions.path.live ? longestPositionLagMs : 0;
  }

  /** Drawn from the time, so that it changes no other draw. */
  #balanceLagMs(): number {
    const { faults, loop } = this.#process.stage;
    const isOfBalances = this.#request.path === tradeBalance.path.live;
    if (!isOfBalances || !faults.strikes('balance_lag')) return 0;
    return rollWhole(createRandom(loop.nowMs), 500, longestPositionLagMs);
  }

  /** Without a response, the connection either breaks or stays silent until the timeout. */
  #respond(response: EncodedResponse | null, slowMs: number): void {
    const { random } = this.#process.stage;
    const isLost = response === null || this.#spoiling.isResponseLost === true;
    if (isLost && random() < 0.5) return;
    const contradiction =
      isLost || this.#spoiling.isContradicted !== true
        ? null
        : contradictResponse(response, isCreate(this.#request.path), random);
    const outcome: WireOutcome = isLost
      ? { kind: 'ambiguous', reason: 'the connection broke' }
      : { kind: 'answered', ...(contradiction ?? response) };
    this.#process.later(this.#wayMs() + slowMs, () => this.#settle(outcome, contradiction !== null));
  }

  #settle(outcome: WireOutcome, isContradicted = false): void {
    if (this.#send?.outcome === null) Object.assign(this.#send, { outcome, isContradicted });
    this.#resolve(outcome);
  }

  #wayMs(): number {
    return rollWhole(this.#process.stage.random, 1, longestWayMs);
  }
}

const oddities = { odd_word: 'unknown_word', odd_record: 'unreadable_record' } as const;
