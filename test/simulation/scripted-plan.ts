import type { FaultPlan, StoreFault, WireFault } from './faults.ts';
import { isCreate } from './history.ts';
import { currentInvocation, type Invocation, type Story } from './process.ts';

/** A place of a story at which something can go wrong. */
export interface InjectionPoint {
  /** `queue`: the worker's loop, which is between stories. */
  readonly story: Story | 'queue';
  /** `ledger.start`, or a path of the exchange. */
  readonly step: string;
  /** Which time the story comes to this step, from 1 on. */
  readonly ordinal: number;
  readonly isWire: boolean;
}

/** One fault at one point; `throughout`: whenever a story comes to this step, from that time on. */
export interface Injection {
  readonly point: InjectionPoint;
  readonly fault: StoreFault | WireFault;
  readonly isThroughout: boolean;
}

/** Whether the order whose response is lost was taken in. */
export type Loss = 'lost_before' | 'lost_after';

/** What happens while stories run through: the points they reach, and one fault where it was asked for. */
export class ScriptedPlan implements FaultPlan {
  readonly reached: InjectionPoint[] = [];
  /** The telling that was struck. */
  struck: Invocation | null = null;
  hasStruck = false;
  readonly #injection: Injection | null;
  readonly #counts = new Map<string, number>();
  #look: Invocation | null = null;
  #isLookingUp = false;
  readonly #loss: Loss | null;
  readonly #onNextLookup: () => void;

  /**
   * @param loss how the response to the create is lost, so that the order must be looked for; then only the first look
   *   after that is counted. Null: nothing else goes wrong
   * @param onNextLookup told when the reconciler first comes by after the fault has struck
   */
  constructor(injection: Injection | null, loss: Loss | null, onNextLookup: () => void = () => undefined) {
    this.#injection = injection;
    this.#loss = loss;
    this.#onNextLookup = onNextLookup;
  }

  strikes(): boolean {
    return false;
  }

  atStore(step: string): StoreFault | null {
    return this.#come(step, false) as StoreFault | null;
  }

  onWire(path: string): WireFault | null {
    const fault = this.#come(path, true) as WireFault | null;
    if (this.#loss === null || this.#isLookingUp || !isCreate(path)) return fault;
    this.#isLookingUp = true;
    return this.#loss;
  }

  #come(step: string, isWire: boolean): string | null {
    const invocation = currentInvocation();
    this.#noticeLook(invocation);
    const story = storyAt(step, invocation);
    if (story === null || !this.#isOnStage(story, invocation)) return null;
    const name = `${story} ${step}`;
    const ordinal = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, ordinal);
    const point = { story, step, ordinal, isWire };
    this.reached.push(point);
    if (!this.#isTarget(point)) return null;
    this.hasStruck = true;
    this.struck = invocation;
    return this.#injection?.fault ?? null;
  }

  /** Either the way of the signal to its order is looked at, or the first look for a lost one. */
  #isOnStage(story: InjectionPoint['story'], invocation: Invocation | null): boolean {
    if (this.#loss === null) return story !== 'reconcile';
    if (!this.#isLookingUp || story !== 'reconcile') return false;
    this.#look ??= invocation;
    return this.#injection?.isThroughout === true || this.#look === invocation;
  }

  #isTarget(point: InjectionPoint): boolean {
    if (this.#injection === null) return false;
    const { point: asked, isThroughout } = this.#injection;
    if (asked.story !== point.story || asked.step !== point.step) return false;
    return isThroughout ? point.ordinal >= asked.ordinal : point.ordinal === asked.ordinal;
  }

  #noticeLook(invocation: Invocation | null): void {
    if (this.hasStruck && invocation?.story === 'reconcile' && invocation !== this.struck)
      this.#onNextLookup();
  }
}

function storyAt(step: string, invocation: Invocation | null): InjectionPoint['story'] | null {
  if (invocation !== null) return invocation.story;
  return step === 'queue.remove' || step === 'queue.release' ? 'queue' : null;
}
