/**
 * Tells whether the call that is being handled met a cold start: it is the first of its process, so everything that it
 * needs is loaded while it waits.
 */
export interface StartWatch {
  /** A call begins. Lambda gives a process one call at a time. */
  begin(): void;
  readonly isCold: boolean;
}

export function createStartWatch(): StartWatch {
  let calls = 0;
  return {
    begin() {
      calls += 1;
    },
    get isCold() {
      return calls === 1;
    },
  };
}
