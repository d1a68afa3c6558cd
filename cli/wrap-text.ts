import { stripVTControlCharacters } from 'node:util';

/** How many characters of a text are seen: styles are not. */
function shownLength(text: string): number {
  return stripVTControlCharacters(text).length;
}

/**
 * Lines of at most that many characters, broken at spaces only and indented alike: a word that is longer has a line of
 * its own, for an id or an address in two pieces cannot be copied.
 *
 * @param width null: one line
 */
export function wrapText(text: string, width: number | null): readonly string[] {
  if (width === null || shownLength(text) <= width) return [text];
  const [indent = ''] = /^ */.exec(text) ?? [];
  const lines: string[] = [];
  let line = '';
  for (const word of text.slice(indent.length).split(' ')) {
    const longer = line === '' ? `${indent}${word}` : `${line} ${word}`;
    if (line !== '' && shownLength(longer) > width) {
      lines.push(line.trimEnd());
      line = `${indent}${word}`;
    } else line = longer;
  }
  return [...lines, line];
}

/** Every line of a text, wrapped. */
export function fitLines(text: string, width: number | null): string {
  return text
    .split('\n')
    .flatMap((line) => wrapText(line, width))
    .join('\n');
}

/** How long the longest word is. */
export function longestWordOf(text: string): number {
  return Math.max(...text.split(' ').map(({ length }) => length));
}
