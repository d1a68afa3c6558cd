/** One of the equal parts that a list is tried in, on different days. */
export interface Share {
  /** From 1. */
  readonly part: number;
  readonly parts: number;
}

/**
 * Parses `2/4`: the second of four parts.
 *
 * @throws RangeError when the text is no such part
 */
export function parseShare(text: string): Share {
  const [, part, parts] = /^([1-9]\d?)\/([1-9]\d?)$/.exec(text) ?? [];
  if (part === undefined || parts === undefined || Number(part) > Number(parts))
    throw new RangeError(`"${text}" is not a share: write 2/4 for the second of four parts`);
  return { part: Number(part), parts: Number(parts) };
}

/**
 * What is tried here of the broken variants, the kinds of orders, the fault matrix and the kept folders: all, unless `PROOF_SHARE`
 * names a part.
 */
export const proofShare = parseShare(process.env['PROOF_SHARE'] ?? '1/1');

/**
 * Every item is in one share; those that lie together are in different ones, so that shares take about as long. In which share an
 * item is depends on those before it alone: a list may grow.
 */
export function takeShare<T>(items: readonly T[], { part, parts }: Share): readonly T[] {
  return items.filter((_, place) => place % parts === part - 1);
}

/** The same of so few items that some shares would have none: each has one. */
export function takeShareOfFew<T>(items: readonly T[], { part, parts }: Share): readonly T[] {
  const fewer = Math.min(parts, items.length);
  return takeShare(items, { part: ((part - 1) % fewer) + 1, parts: fewer });
}
