import { quoteText } from './issues.ts';
import type { JsonNode } from './parse-json.ts';

/** What an owner reads when TradingView left a `{{placeholder}}` as it was. */
export const placeholderHint =
  'nothing filled the placeholder: check its spelling; alert() fills none, and {{strategy.…}} needs a strategy alert';

export function isPlaceholder(text: string): boolean {
  return /\{\{|\}\}/.test(text);
}

/** The exact text of a value that people write as a number or as a string alike; undefined for anything else. */
export function textOf(node: JsonNode): string | undefined {
  return node.kind === 'string' || node.kind === 'number' ? node.text : undefined;
}

/** A value as a message shows it: the beginning of a text, the kind of a structure. */
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
