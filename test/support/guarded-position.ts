import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import { market as marketEndpoint } from '../../lib/exchange/endpoints/market.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Order, Side } from '../../lib/model/order.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { type Aftermath, openAftermath } from './aftermath.ts';

/** A relay that keeps the stop-losses and take-profits of BTC_USDT to the position, on a clock moved by hand. */
export class GuardedPosition {
  readonly relay: Aftermath;
  #count = 0;

  private constructor(relay: Aftermath) {
    this.relay = relay;
  }

  static async open(): Promise<GuardedPosition> {
    return new GuardedPosition(await openAftermath('live'));
  }

  /** Sends an alert, and carries out what the relay asks for itself after it. */
  async send(members: object): Promise<Entry> {
    this.#count += 1;
    const signalId = `s${this.#count}`;
    const message = { ticker: 'BTCUSDT', id: signalId, maxSlippage: '0.5%', ...members };
    await this.relay.receiveAll(JSON.stringify(message));
    await this.runLine();
    return await this.relay.entry(signalId);
  }

  /** Carries out what waits in the line of the market. */
  async runLine(): Promise<void> {
    const { services } = this.relay;
    for (;;) {
      const [first] = await services.ledger.waiting('main', 'BTC_USDT', 1);
      if (first === undefined) return;
      await executeSignal(services, { account: 'main', signalId: first.signalId, market: 'BTC_USDT' });
    }
  }

  /** Follows the orders for so long, and carries out what that asks for. */
  async goOn(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed += 3) {
      this.relay.clock.advance(3000);
      await this.relay.follow();
      await this.runLine();
    }
  }

  async client() {
    return await this.relay.services.exchangeFor('main');
  }

  /** The owner trades on the exchange's own page. */
  async byHand(side: Side, amount: string): Promise<void> {
    const order = { market: 'BTC_USDT', side, amount: parseDecimal(amount), clientOrderId: '' };
    await (await this.client()).call(marketEndpoint, order);
  }

  async held(): Promise<string> {
    const { records } = await (await this.client()).call(openPositions, { market: 'BTC_USDT' });
    const [position] = records;
    return position === undefined ? '0' : formatDecimal(position.amount);
  }

  async listOpen(): Promise<readonly Order[]> {
    return (await listOpenOrders(await this.client(), 'BTC_USDT', {})).orders;
  }

  /** The open orders of the market: `sell 0.1 stop 48000`. */
  async open(): Promise<readonly string[]> {
    const orders = await this.listOpen();
    return orders
      .map(({ side, remaining, price, activationPrice }) =>
        activationPrice === undefined
          ? `${side} ${formatDecimal(remaining)} at ${formatDecimal(price)}`
          : `${side} ${formatDecimal(remaining)} stop ${formatDecimal(activationPrice)}`,
      )
      .sort();
  }

  alarmNames(): readonly string[] {
    return this.relay.alarms.map(({ name }) => name);
  }
}
