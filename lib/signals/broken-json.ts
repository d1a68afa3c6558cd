import { type MistakePlace, mistakes } from './json-mistakes.ts';

/** Where and why the strict JSON parser stopped. */
export interface BrokenJson {
  readonly text: string;
  /** Where the unexpected token begins. */
  readonly offset: number;
  readonly length: number;
  /** The parser's name of the problem, for example `CommaExpected`. */
  readonly problem: string;
}

/** The part of a string up to its first broken escape. */
const validStart = /^(?:[^\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/;

/**
 * Describes where the JSON is broken, which character was found there, and the likely mistake.
 *
 * Shows at most one character of the body: the text around it may contain a secret.
 */
export function explainBrokenJson(broken: BrokenJson): { readonly message: string; readonly hint: string } {
  const place = placeOf(broken);
  const mistake = mistakes.find(({ matches }) => matches(place));
  return {
    message: `${locate(place.text, place.offset)}: found ${nameCharacter(place.found)}`,
    hint: mistake?.hint ?? 'check the message with a JSON validator',
  };
}

/** For example `line 3, column 14`, both counted from 1. */
export function locate(text: string, offset: number): string {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}

function placeOf({ text, offset: tokenOffset, length, problem }: BrokenJson): MistakePlace {
  const offset = tokenOffset + errorOffsetIn(text.slice(tokenOffset, tokenOffset + length), problem);
  const upTo = text.slice(0, offset);
  const before = upTo.trimEnd();
  return {
    text,
    problem,
    offset,
    found: Array.from(text.slice(offset, offset + 2))[0] ?? '',
    token: text[offset] === '"' ? '"' : text.slice(offset, tokenOffset + length),
    before,
    isAdjacent: before === upTo,
  };
}

/** The parser reports a broken string at its opening quote; this finds the broken character inside it. */
function errorOffsetIn(token: string, problem: string): number {
  switch (problem) {
    case 'UnexpectedEndOfString':
      return token.length;
    case 'InvalidCharacter':
      return token.search(/[^\P{Cc}\x7f-\x9f]/u);
    case 'InvalidEscapeCharacter':
    case 'InvalidUnicode':
      return validStart.exec(token)?.[0].length ?? 0;
    default:
      return 0;
  }
}

function nameCharacter(character: string): string {
  if (character === '') return 'the end of the body';
  if (/[\r\n]/.test(character)) return 'a line break';
  if (/^[\x21-\x7e]$/.test(character)) return character === '"' ? 'a double quote' : `"${character}"`;
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `the character U+${code}`;
}
