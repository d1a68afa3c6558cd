/** Set in `npm run proof` alone, by `all-runs.ts`. */
const isProof = (globalThis as { isProof?: boolean }).isProof === true;

/**
 * How many generated cases of `all` a test tries: all of them in `npm run proof`, one in five in `npm test`, which
 * has to be quick. A test that counts what its cases reach takes `all` itself.
 */
export function runs(all: number): number {
  return isProof ? all : Math.ceil(all / 5);
}

/** Every one of them in `npm run proof`, every fifth in `npm test`. */
export function some<T>(all: readonly T[]): readonly T[] {
  return isProof ? all : all.filter((_, index) => index % 5 === 0);
}
