import type { JsonNode } from '../signals/parse-json.ts';
import type { Word } from './draft.ts';

/** The values of an object, those of its members' objects under dotted names; lists count from 0. */
export function wordsOf(node: JsonNode, name = ''): readonly Word[] {
  switch (node.kind) {
    case 'object':
      return node.members.flatMap((member) =>
        wordsOf(member.value, name === '' ? member.name : `${name}.${member.name}`),
      );
    case 'array':
      return node.items.flatMap((item, index) => wordsOf(item, `${name}.${index}`));
    case 'string':
    case 'number':
      return [{ name, value: node.text.trim() }];
    case 'boolean':
      return [{ name, value: String(node.value) }];
    case 'null':
      return [];
  }
}
