export interface SeedRange {
  readonly fromSeed: number;
  readonly toSeed: number;
}

const dayMs = 86_400_000;

/**
 * Parses `A..B`, one seed, or `rotating:COUNT`: this many seeds, different ones every day.
 *
 * @throws RangeError when the text is none of these
 */
export function parseSeeds(text: string, nowMs: number): SeedRange {
  const rotating = /^rotating:([1-9]\d{0,5})$/.exec(text)?.[1];
  if (rotating !== undefined) {
    const fromSeed = Math.floor(nowMs / dayMs) * Number(rotating);
    return { fromSeed, toSeed: fromSeed + Number(rotating) - 1 };
  }
  const [, from, to = from] = /^(\d{1,12})(?:\.\.(\d{1,12}))?$/.exec(text) ?? [];
  if (from === undefined || to === undefined || Number(to) < Number(from))
    throw new RangeError(`"${text}" names no seeds: write 1..1000, 4711 or rotating:300`);
  return { fromSeed: Number(from), toSeed: Number(to) };
}
