import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** An item, or a part of one, in the format of DynamoDB's own client. */
export type Item = Record<string, AttributeValue>;

export function textOf(item: Item, name: string): string {
  return item[name]?.S ?? '';
}

export function numberOf(item: Item, name: string): number {
  return Number(item[name]?.N);
}

/** Collects the attribute names of expressions; all are written as `#name`, as many words are reserved. */
export function namesIn(...expressions: readonly string[]): Record<string, string> {
  const names = expressions.join(' ').matchAll(/#(\w+)/g);
  return Object.fromEntries([...names].map(([alias, name = '']) => [alias, name]));
}
