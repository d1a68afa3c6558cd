import type { Clock } from './clock.ts';
import type { Address } from './http-address.ts';
import { type ConnectionOwner, HttpConnection } from './http-connection.ts';
import type { Delivery, Holder } from './http-delivery.ts';

/** Connections per address. Further requests wait for one of them. */
const maximumConnections = 64;

/**
 * All connections to one address, and the requests that wait for one.
 *
 * @see DECISIONS 8
 */
export class ConnectionPool implements ConnectionOwner, Holder {
  readonly #address: Address;
  readonly #clock: Clock;
  readonly #connections = new Set<HttpConnection>();
  /** The one that was used last is the last, and is used first. */
  #free: HttpConnection[] = [];
  /** The first to come is the first to be sent. */
  readonly #waiting = new Set<Delivery>();

  constructor(address: Address, clock: Clock) {
    this.#address = address;
    this.#clock = clock;
  }

  /** Name and port, as the header `Host` has them. */
  get host(): string {
    return this.#address.host;
  }

  deliver(delivery: Delivery): void {
    this.#closeUnusable();
    const free = this.#free.pop();
    if (free !== undefined) free.carry(delivery);
    else if (this.#connections.size < maximumConnections) this.#open(delivery);
    else this.#await(delivery);
  }

  abandon(delivery: Delivery, reason: string): void {
    this.#waiting.delete(delivery);
    delivery.fail(reason);
  }

  onFree(connection: HttpConnection): void {
    const next = this.#takeWaiting();
    if (next !== undefined) {
      connection.carry(next);
      return;
    }
    connection.rest();
    this.#free.push(connection);
  }

  onClosed(connection: HttpConnection): void {
    this.#connections.delete(connection);
    this.#free = this.#free.filter((free) => free !== connection);
    const next = this.#takeWaiting();
    if (next !== undefined) this.#open(next);
  }

  /** Closes every connection; first, requests that wait for one end. */
  close(reason: string): void {
    for (const delivery of this.#waiting) this.abandon(delivery, reason);
    for (const connection of this.#connections) connection.close(reason);
  }

  #open(delivery: Delivery): void {
    this.#connections.add(new HttpConnection(this.#address, this, this.#clock, delivery));
  }

  #await(delivery: Delivery): void {
    delivery.holder = this;
    this.#waiting.add(delivery);
  }

  #takeWaiting(): Delivery | undefined {
    if (this.#waiting.size === 0) return undefined;
    const [next] = this.#waiting;
    if (next !== undefined) this.#waiting.delete(next);
    return next;
  }

  #closeUnusable(): void {
    const nowMs = this.#clock.nowMs();
    for (const connection of this.#free)
      if (!connection.isUsable(nowMs)) connection.close('the connection was idle for too long');
  }
}
