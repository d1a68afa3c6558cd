/** Long enough that two of a hundred thousand ids are hardly ever alike. */
const shownDigits = 8;
const longestShown = 24;
const ellipsis = '…';

/** Ids that the relay made itself: of an alert's bytes, with the signal's number where there were several. */
const derivedId = /^(h-|refused-)([0-9a-f]{32})(-\d+)?$/;

/**
 * An id as lists show it, short enough to be typed: `signal` and `resolve` find the signal by it.
 *
 * @returns of an alert that was refused its own id, where it gave one
 */
export function shortenId(signalId: string): string {
  const [ownId = ''] = signalId.split('@');
  const [, kind, digits = '', number = ''] = derivedId.exec(ownId) ?? [];
  if (kind !== undefined) return `${kind}${digits.slice(0, shownDigits)}${number}`;
  return ownId.length > longestShown ? `${ownId.slice(0, longestShown - 1)}${ellipsis}` : ownId;
}

/** As much of an id has to be typed; less may be a slip. */
export const leastTyped = 4;

/** What was typed for an id, taken apart: how the id begins and how it ends. */
export interface TypedId {
  readonly beginning: string;
  /** Of a derived id the signal's number in its alert, such as `-2`; else empty. */
  readonly end: string;
}

export function readTypedId(text: string): TypedId {
  const [, derived, number = ''] = /^(h-[0-9a-f]+)(-\d+)$/.exec(text) ?? [];
  if (derived !== undefined) return { beginning: derived, end: number };
  return { beginning: text.endsWith(ellipsis) ? text.slice(0, -ellipsis.length) : text, end: '' };
}
