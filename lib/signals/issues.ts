import type { Issue } from '../base/errors.ts';

/** A page of issues helps; a body made of nothing but faults must not cost more than that. */
const mostIssues = 20;
/** Long enough for most placeholders, and shorter than any key of the exchange or token of ours: 32 characters. */
const excerptLength = 28;

/** Gathers everything that is wrong with one alert, so that its owner mends it in one go. */
export interface Issues {
  readonly issues: readonly Issue[];
  /** How many were found, kept or not. */
  readonly count: number;
  /** Whether further ones are only counted. */
  readonly isFull: boolean;
  /** Returns undefined: what a reader has to give for a value it refuses. */
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
 * Characters that break a line, steer a terminal or are not there to be seen: controls, line separators, directional
 * marks, halves of surrogate pairs.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The text with every unprintable character spelled out, for example `\u001b`: safe in logs and terminals. */
export function escapeText(text: string): string {
  return text.replace(unprintable, (character) => {
    const digits = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits}`;
  });
}

/** The beginning of a text, safe to print: enough to recognise it by, too little to give a secret away. */
export function shortenText(text: string): string {
  const characters = Array.from(text.slice(0, 2 * excerptLength));
  const shown = escapeText(characters.slice(0, excerptLength).join(''));
  return characters.length > excerptLength ? `${shown}…` : shown;
}

/** The beginning of a text in quotes. */
export function quoteText(text: string): string {
  return `"${shortenText(text)}"`;
}
