import { cancelOrder } from '../../exchange/endpoints/cancel-order.ts';
import { conditionalOrders } from '../../exchange/endpoints/conditional-orders.ts';
import { endedOrder } from '../../exchange/endpoints/ended-order.ts';
import { executedHistory } from '../../exchange/endpoints/executed-history.ts';
import { openOrder } from '../../exchange/endpoints/open-order.ts';
import { openPositions } from '../../exchange/endpoints/open-positions.ts';
import { orderDeals } from '../../exchange/endpoints/order-deals.ts';
import { platformStatus } from '../../exchange/endpoints/platform-status.ts';
import { tradeBalance } from '../../exchange/endpoints/trade-balance.ts';
import { orderTypes } from '../../model/order.ts';
import { endpointOfType } from '../../orders/order-types.ts';
import type { RefusalName } from '../engine/refusals.ts';
import { type RefusalForm, refusalResponse } from '../requests/refusal-responses.ts';
import type { OddList } from './odd-lists.ts';

/** How a fault changes the response of the exchange. */
export type FaultEffect =
  | { readonly kind: 'respond'; readonly httpStatus: number; readonly body: unknown }
  /** The connection is destroyed. */
  | { readonly kind: 'drop' }
  /** The exchange's own response, delayed. */
  | { readonly kind: 'delay' }
  /** The exchange's own response, from lists of orders, positions and spot balances that lag behind. */
  | { readonly kind: 'lag' }
  /** The exchange's own response, in which the list of positions shows the attached exits. */
  | { readonly kind: 'show_tpsl' }
  /** The exchange's own response, with a list that differs from what the relay knows of lists. */
  | { readonly kind: 'odd_list'; readonly oddity: OddList }
  /** The exchange's own response, but about another order. */
  | { readonly kind: 'contradict' }
  /** The exchange's own response, with the request headers (key and signature included) in its texts. */
  | { readonly kind: 'echo' }
  /** The exchange's own response, behind one that no request asked for. */
  | { readonly kind: 'surplus'; readonly httpStatus: number; readonly body: unknown }
  /** The server refuses connections for a while. */
  | { readonly kind: 'outage' };

export interface FaultRow {
  /**
   * `before`: the request has no effect. `during`: it is served in another way. `after`: it took effect, and
   * only the response is changed. `at_once`: the fault does not wait for a request.
   */
  readonly when: 'before' | 'during' | 'after' | 'at_once';
  readonly effect: (form: RefusalForm) => FaultEffect;
  /** The duration that the fault needs, if any. */
  readonly needs?: 'delayMs' | 'durationMs';
  /** The endpoints that the fault can affect; absent: all. */
  readonly only?: readonly string[];
  /** Whether it affects a request with these fields; absent: any request. */
  readonly isMeant?: (fields: Readonly<Record<string, unknown>>) => boolean;
}

const response = (httpStatus: number, body: unknown) => (): FaultEffect => ({
  kind: 'respond',
  httpStatus,
  body,
});
const refusal =
  (name: RefusalName) =>
  (form: RefusalForm): FaultEffect => ({ kind: 'respond', ...refusalResponse([{ name }], form) });
const drop = (): FaultEffect => ({ kind: 'drop' });

const odd = (oddity: OddList) => (): FaultEffect => ({ kind: 'odd_list', oddity });

const listNames = [openOrder, endedOrder, conditionalOrders, executedHistory, orderDeals, openPositions].map(
  ({ name }) => name,
);
const laggingNames = [...listNames, tradeBalance.name];
const createNames = orderTypes.map((type) => endpointOfType(type).name);
const tradeNames = [...createNames, cancelOrder.name];
const privateRefusal = { code: 30, message: 'Validation failed', errors: {} };
const publicRefusal = { success: false, message: 'Validation failed', params: [] };

const refusalOf = ({ access }: RefusalForm) => (access === 'private' ? privateRefusal : publicRefusal);

/** Every fault: when it takes effect and what it does. */
export const faultRows = {
  refuse: { when: 'before', effect: (form) => response(422, refusalOf(form))() },
  drop_before: { when: 'before', effect: drop },
  drop_after: { when: 'after', effect: drop },
  delay: { when: 'after', effect: () => ({ kind: 'delay' }), needs: 'delayMs' },
  read_lag: { when: 'during', effect: () => ({ kind: 'lag' }), needs: 'delayMs', only: laggingNames },
  unknown_word: { when: 'after', effect: odd('unknown_word'), only: listNames },
  unknown_field: { when: 'after', effect: odd('unknown_field'), only: listNames },
  unreadable_record: { when: 'after', effect: odd('unreadable_record'), only: listNames },
  odd_group: { when: 'after', effect: odd('odd_group'), only: [conditionalOrders.name] },
  doubled_deals: {
    when: 'after',
    effect: odd('doubled_deals'),
    only: [executedHistory.name, orderDeals.name],
  },
  unsigned_short: { when: 'after', effect: odd('unsigned_short'), only: [openPositions.name] },
  maintenance: {
    when: 'after',
    effect: response(200, { status: 'system maintenance' }),
    only: [platformStatus.name],
  },
  show_tpsl: { when: 'during', effect: () => ({ kind: 'show_tpsl' }), only: [openPositions.name] },
  error_before: { when: 'before', effect: response(503, 'Service Unavailable') },
  error_after: { when: 'after', effect: response(500, { error: ['Internal server error.'] }) },
  garbage: { when: 'after', effect: response(200, '<html><body>Please wait</body></html>') },
  nonce_429: { when: 'before', effect: refusal('nonce_refused') },
  rate_429: { when: 'before', effect: refusal('rate_limited') },
  nonce_429_after: { when: 'after', effect: refusal('nonce_refused') },
  rate_429_after: { when: 'after', effect: refusal('rate_limited') },
  id_used_after: {
    when: 'after',
    effect: refusal('client_order_id_used'),
    only: createNames,
  },
  refuse_ioc: {
    when: 'before',
    effect: refusal('ioc_unavailable'),
    only: [endpointOfType('limit').name],
    isMeant: ({ ioc }) => ioc === true,
  },
  contradict: { when: 'after', effect: () => ({ kind: 'contradict' }), only: tradeNames },
  echo_headers: { when: 'after', effect: () => ({ kind: 'echo' }), only: tradeNames },
  surplus: {
    when: 'after',
    effect: (form) => ({ kind: 'surplus', httpStatus: 422, body: refusalOf(form) }),
  },
  down: { when: 'at_once', effect: () => ({ kind: 'outage' }), needs: 'durationMs' },
} as const satisfies Record<string, FaultRow>;

export type FaultKind = keyof typeof faultRows;
export const faultKinds = Object.keys(faultRows) as FaultKind[];
