import { stripVTControlCharacters } from 'node:util';

/** The number of visible characters, without escape sequences of styles. */
function shownLength(text: string): number {
  return stripVTControlCharacters(text).length;
}

/**
 * Wraps a text at spaces and keeps its indentation. A word longer than the width gets a line of its own and
 * is never broken, so that ids and addresses can be copied.
 *
 * @param width null: unlimited
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
