/** The colours of the style sheet, for what is drawn on a canvas. */
export function readColours() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    text: colour('text'),
    faint: colour('faint'),
    line: colour('line'),
    paper: colour('paper'),
    accent: colour('accent'),
    good: colour('good'),
    bad: colour('bad'),
    alarm: colour('alarm'),
    waiting: colour('waiting'),
  };
}

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Calls back when the colours change. @returns what ends that */
export function onColoursChange(change: () => void): () => void {
  dark.addEventListener('change', change);
  return () => dark.removeEventListener('change', change);
}
