/** Enough digits that among a hundred thousand ids hardly two begin alike. */
const shownDigits = 8;
const longestShown = 24;
const ellipsis = '…';

/**
 * Derived ids: from the alert's bytes, with the index of the signal if the alert is an array, and with the name of the leg
 * that reduces a position first, or of the signal that protects what the order filled.
 */
const derivedId = /^(h-|refused-)([0-9a-f]{32})((?:-\d+)?(?::reduce|:(?:stop|target)\d?-[0-9a-z]{1,8})?)$/;

/**
 * The short form of an id in lists, which `signal` and `resolve` accept.
 *
 * @returns for a refused alert, the short form of its explicit id if it has one
 */
export function shortenId(signalId: string): string {
  const [ownId = ''] = signalId.split('@');
  const [, kind, digits = '', number = ''] = derivedId.exec(ownId) ?? [];
  if (kind !== undefined) return `${kind}${digits.slice(0, shownDigits)}${number}`;
  return ownId.length > longestShown ? `${ownId.slice(0, longestShown - 1)}${ellipsis}` : ownId;
}

/** How many characters of an id must be typed at least. */
export const leastTyped = 4;

/** A typed id, split into its beginning and its end. */
export interface TypedId {
  readonly beginning: string;
  /** The index of the signal in a derived id and the name of its leg, such as `-2` or `:reduce`; otherwise empty. */
  readonly end: string;
}

export function readTypedId(text: string): TypedId {
  const [, derived, number = ''] =
    /^(h-[0-9a-f]+)((?:-\d+)?(?::reduce|:(?:stop|target)\d?-[0-9a-z]{1,8})?)$/.exec(text) ?? [];
  if (derived !== undefined) return { beginning: derived, end: number };
  return { beginning: text.endsWith(ellipsis) ? text.slice(0, -ellipsis.length) : text, end: '' };
}
