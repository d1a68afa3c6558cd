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

/**
 * What a sale of a strategy on spot may have sold: what {@link ofOneStrategy} gives, then what other strategies have bought without
 * a stop-loss. The relay keeps that for nobody: an exit that is named otherwise than its entry sells it, and so does a sale of
 * `100%`.
 *
 * @param compare in which order those of others are sold; absent: as they are given
 */
export function soldByOne<
  One extends { readonly strategy: string | undefined; readonly isUnguarded: boolean },
>(
  all: readonly One[],
  strategy: string | undefined,
  compare: (one: One, other: One) => number = () => 0,
): readonly One[] {
  const own = ofOneStrategy(all, strategy, strategyOf);
  const ofOthers = all.filter((one) => one.isUnguarded && !mayBeOneStrategy(one.strategy, strategy));
  return [...own, ...ofOthers.toSorted(compare)];
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
