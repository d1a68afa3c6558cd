/** Whether two orders may be of one strategy: one that names none may be of any. */
export function mayBeOneStrategy(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}

/** What a sale of a strategy may be about: its own first, then what may be its own, each in the order in which they are given. */
export function ofOneStrategy<One>(
  all: readonly One[],
  strategy: string | undefined,
  strategyIn: (one: One) => string | undefined,
): readonly One[] {
  const own = all.filter((one) => mayBeOneStrategy(strategyIn(one), strategy));
  return ownFirst(own, strategy, strategyIn);
}

export function strategyOf({ strategy }: { readonly strategy: string | undefined }): string | undefined {
  return strategy;
}

/** What a sale of a strategy is about first: its own, then what may be its own, each in the order in which they are given. */
export function ownFirst<One>(
  all: readonly One[],
  strategy: string | undefined,
  strategyOf: (one: One) => string | undefined,
): readonly One[] {
  const rank = (one: One) => {
    const of = strategyOf(one);
    return Number(of === strategy) + Number(mayBeOneStrategy(of, strategy));
  };
  return all.toSorted((one, other) => rank(other) - rank(one));
}
