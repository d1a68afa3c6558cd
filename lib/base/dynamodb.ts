import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** An item, or a part of one, as DynamoDB's own client takes and gives it. */
export type Item = Record<string, AttributeValue>;

export function textOf(item: Item, name: string): string {
  return item[name]?.S ?? '';
}

export function numberOf(item: Item, name: string): number {
  return Number(item[name]?.N);
}

/** The attribute names of expressions, in which every name is written `#name`: many words are reserved. */
export function namesIn(...expressions: readonly string[]): Record<string, string> {
  const names = expressions.join(' ').matchAll(/#(\w+)/g);
  return Object.fromEntries([...names].map(([alias, name = '']) => [alias, name]));
}
