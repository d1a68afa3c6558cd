import type { Clock } from '../../lib/base/clock.ts';
import { deduplicationIdOf, groupOf, type SignalMessage, type SignalQueue } from '../../lib/queue/queue.ts';
import { type Waiting, WaitingLine } from '../../lib/queue/waiting-line.ts';

/** One delivery of a message to a worker. */
export interface HeldMessage {
  readonly receipt: string;
  readonly group: string;
  readonly body: string;
  /** 1 at the first delivery. */
  readonly receiveCount: number;
}

interface QueuedMessage extends Waiting {
  readonly body: string;
  receiveCount: number;
}

/** SQS keeps a deduplication id for this time, even if its message has been handled. */
const deduplicationMs = 5 * 60_000;

/** A stand-in for an SQS FIFO queue with dead letters. It keeps its messages while the functions come and go. */
export class QueueService implements SignalQueue {
  readonly #clock: Clock;
  readonly #maxReceives: number;
  readonly #onDeadLetter: (letter: HeldMessage) => void;
  /** By receipt: the messages that workers hold. */
  readonly #held = new Map<string, QueuedMessage>();
  readonly #line = new WaitingLine<QueuedMessage>();
  readonly #enqueuedAtMs = new Map<string, number>();
  #dead: HeldMessage[] = [];
  #position = 0;

  constructor(clock: Clock, maxReceives: number, onDeadLetter: (letter: HeldMessage) => void) {
    this.#clock = clock;
    this.#maxReceives = maxReceives;
    this.#onDeadLetter = onDeadLetter;
  }

  get deadLetters(): readonly HeldMessage[] {
    return this.#dead;
  }

  async enqueue(message: SignalMessage, attempt?: string): Promise<void> {
    const id = deduplicationIdOf(message, attempt);
    const nowMs = this.#clock.nowMs();
    if (nowMs - (this.#enqueuedAtMs.get(id) ?? Number.NEGATIVE_INFINITY) < deduplicationMs) return;
    this.#enqueuedAtMs.set(id, nowMs);
    this.#add(groupOf(message), JSON.stringify(message));
  }

  #add(group: string, body: string): void {
    this.#position += 1;
    this.#line.add({
      id: String(this.#position),
      position: this.#position,
      group,
      body,
      receiveCount: 0,
      isAside: false,
    });
  }

  /** Hands out the oldest message of a group that no worker holds; null when there is none. */
  receive(): HeldMessage | null {
    const message = this.#line.take();
    if (message === null) return null;
    message.receiveCount += 1;
    const { id, group, body, receiveCount } = message;
    const receipt = `${receiveCount}. delivery of message ${id}`;
    this.#held.set(receipt, message);
    return { receipt, group, body, receiveCount };
  }

  waitForWork(): Promise<void> {
    return this.#line.waitForFree();
  }

  /** Receipts of earlier deliveries are ignored, here and in `release`. */
  remove({ receipt }: HeldMessage): void {
    const message = this.#held.get(receipt);
    this.#held.delete(receipt);
    if (message !== undefined) this.#line.remove(message);
  }

  release(held: HeldMessage): void {
    const message = this.#held.get(held.receipt);
    this.#held.delete(held.receipt);
    if (message === undefined) return;
    if (message.receiveCount < this.#maxReceives) {
      this.#line.putBack(message, Promise.resolve());
      return;
    }
    this.#line.remove(message);
    this.#dead.push(held);
    this.#onDeadLetter(held);
  }

  /** @returns the number of dead letters that were put back at the ends of their groups */
  redrive(): number {
    const dead = this.#dead;
    this.#dead = [];
    for (const { group, body } of dead) this.#add(group, body);
    return dead.length;
  }
}
