/**
 * Lines of at most that many characters, broken at spaces only: a word that is longer has a line of its own, for an id
 * or an address in two pieces cannot be copied.
 *
 * @param width null: one line
 */
export function wrapText(text: string, width: number | null): readonly string[] {
  if (width === null || text.length <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && longer.length > width) {
      lines.push(line.trimEnd());
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** How long the longest word is. */
export function longestWordOf(text: string): number {
  return Math.max(...text.split(' ').map(({ length }) => length));
}
