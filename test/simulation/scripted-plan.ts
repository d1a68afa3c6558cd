import type { FaultPlan, Hazard, StoreFault, WireFault } from './faults.ts';
import { isCreate } from './history.ts';
import { currentInvocation, type HandlerName, type Invocation } from './process.ts';

/** A step of a handler at which a fault can be injected. */
export interface InjectionPoint {
  /** `queue`: the worker loop, outside of all handlers. */
  readonly handlerName: HandlerName | 'queue';
  /** `ledger.start`, or a path of the exchange. */
  readonly step: string;
  /** How often the handler has reached this step, from 1 on. */
  readonly ordinal: number;
  readonly isWire: boolean;
}

/** One fault at one point; `isThroughout`: also whenever a handler reaches this step later. */
export interface Injection {
  readonly point: InjectionPoint;
  readonly fault: StoreFault | WireFault;
  readonly isThroughout: boolean;
}

/** Whether the request or the response of the create is lost. */
export type Loss = 'lost_before' | 'lost_after';

/** What happens to the order besides the injected fault. */
export interface Setting {
  /**
   * How the create is lost, so that the order must be looked up; then only points of the first lookup are counted.
   * Null: the create is not lost.
   */
  readonly loss: Loss | null;
  /** Whether the exchange refuses orders that ask for "immediate or cancel". */
  readonly refusesIoc: boolean;
}

/** A plan that records the points that handlers reach, and injects at most one fault. */
export class ScriptedPlan implements FaultPlan {
  readonly reached: InjectionPoint[] = [];
  /** The invocation that was struck. */
  struck: Invocation | null = null;
  hasStruck = false;
  readonly #injection: Injection | null;
  readonly #counts = new Map<string, number>();
  #lookup: Invocation | null = null;
  #isLookingUp = false;
  readonly #loss: Loss | null;
  readonly #refusesIoc: boolean;
  readonly #onNextLookup: () => void;

  /** @param onNextLookup called when the reconciler next runs after the fault has struck */
  constructor(injection: Injection | null, setting: Setting, onNextLookup: () => void = () => undefined) {
    this.#injection = injection;
    this.#loss = setting.loss;
    this.#refusesIoc = setting.refusesIoc;
    this.#onNextLookup = onNextLookup;
  }

  strikes(hazard: Hazard): boolean {
    return hazard === 'ioc_refused' && this.#refusesIoc;
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
    this.#noticeReconciler(invocation);
    const handlerName = handlerAt(step, invocation);
    if (handlerName === null || !this.#isOnStage(handlerName, invocation)) return null;
    const name = `${handlerName} ${step}`;
    const ordinal = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, ordinal);
    const point = { handlerName, step, ordinal, isWire };
    this.reached.push(point);
    if (!this.#isTarget(point)) return null;
    this.hasStruck = true;
    this.struck = invocation;
    return this.#injection?.fault ?? null;
  }

  /** Counts either the points of receiving and executing, or those of the first lookup of a lost order. */
  #isOnStage(handlerName: InjectionPoint['handlerName'], invocation: Invocation | null): boolean {
    if (this.#loss === null) return handlerName !== 'reconcile';
    if (!this.#isLookingUp || handlerName !== 'reconcile') return false;
    this.#lookup ??= invocation;
    return this.#injection?.isThroughout === true || this.#lookup === invocation;
  }

  #isTarget(point: InjectionPoint): boolean {
    if (this.#injection === null) return false;
    const { point: asked, isThroughout } = this.#injection;
    if (asked.handlerName !== point.handlerName || asked.step !== point.step) return false;
    return isThroughout ? point.ordinal >= asked.ordinal : point.ordinal === asked.ordinal;
  }

  #noticeReconciler(invocation: Invocation | null): void {
    if (this.hasStruck && invocation?.handlerName === 'reconcile' && invocation !== this.struck)
      this.#onNextLookup();
  }
}

function handlerAt(step: string, invocation: Invocation | null): InjectionPoint['handlerName'] | null {
  if (invocation !== null) return invocation.handlerName;
  return step === 'queue.release' ? 'queue' : null;
}
