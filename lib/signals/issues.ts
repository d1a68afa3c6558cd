import type { Issue } from '../base/errors.ts';
import { removeSecrets } from './remove-secrets.ts';

/** More issues than this help no reader, and a body full of mistakes must not cost more. */
const mostIssues = 20;
/**
 * Long enough for most placeholders, and shorter than the exchange's keys and the relay's tokens (32
 * characters).
 */
const excerptLength = 28;

/**
 * Collects every validation issue of one alert, so that the trader can correct all of them at once.
 *
 * @see DECISIONS 5
 */
export interface Issues {
  readonly issues: readonly Issue[];
  /** How many issues were found, including those that were not kept. */
  readonly count: number;
  /** Whether further issues are counted but not kept. */
  readonly isFull: boolean;
  /** Returns undefined, which is what a reader returns for a value that it refuses. */
  add(path: string, message: string, hint: string): undefined;
}

export function createIssues(): Issues {
  const issues: Issue[] = [];
  let count = 0;
  return {
    issues,
    get count() {
      return count;
    },
    get isFull() {
      return issues.length >= mostIssues;
    },
    add(path, message, hint) {
      count += 1;
      if (issues.length < mostIssues) issues.push({ path, message, hint });
      return undefined;
    },
  };
}

/**
 * Characters that break a line, control a terminal or are invisible: controls, line separators, directional
 * marks, halves of surrogate pairs.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** Nearly every text. It needs no search by Unicode properties, which took a sixth of the time to parse an alert. */
const printableAscii = /^[ -~]*$/;

/**
 * The text with every unprintable character spelled out, for example `\u001b`: safe in logs and terminals.
 */
export function escapeText(text: string): string {
  if (printableAscii.test(text)) return text;
  return text.replace(unprintable, (character) => {
    const digits = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits}`;
  });
}

/**
 * The beginning of a text, safe to print: long enough to recognise the text, too short to reveal a long secret, and without what
 * may be one.
 */
export function shortenText(whole: string): string {
  const text = removeSecrets(whole.slice(0, 4 * excerptLength));
  if (text.length <= excerptLength && printableAscii.test(text)) return text;
  const characters = Array.from(text.slice(0, 2 * excerptLength));
  const shown = escapeText(characters.slice(0, excerptLength).join(''));
  return characters.length > excerptLength ? `${shown}…` : shown;
}

/** The beginning of a text in quotes. */
export function quoteText(text: string): string {
  return `"${shortenText(text)}"`;
}
