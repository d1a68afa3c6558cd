import { quoteText } from './issues.ts';
import type { JsonNode } from './parse-json.ts';

const unfilled = 'TradingView did not fill the placeholder';

/** The hint for a `{{placeholder}}` that TradingView did not fill. */
export const placeholderHint = `${unfilled}: check its spelling; alert() fills no placeholders, and {{strategy.…}} needs a strategy alert`;

/** Whether a hint says that a placeholder was not filled. */
export function isUnfilledHint(hint: string): boolean {
  return hint.startsWith(unfilled);
}

export function isPlaceholder(text: string): boolean {
  return /\{\{|\}\}/.test(text);
}

/** The exact text of a value that alerts contain as a number or as a string; undefined for any other kind. */
export function textOf(node: JsonNode): string | undefined {
  return node.kind === 'string' || node.kind === 'number' ? node.text : undefined;
}

/** A value as messages show it: the beginning of a text, or the kind of a structure. */
export function describe(node: JsonNode): string {
  switch (node.kind) {
    case 'string':
    case 'number':
      return quoteText(node.text);
    case 'boolean':
      return String(node.value);
    case 'null':
      return 'null';
    case 'object':
    case 'array':
      return `an ${node.kind}`;
  }
}
