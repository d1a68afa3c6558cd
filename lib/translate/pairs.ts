import type { MessageDraft, Word } from './draft.ts';

/** Reads the commands of one relay. One draft is one signal; several are an array. */
export type TextReader = (text: string) => readonly MessageDraft[];

/** Names and values with = between them; a part without = has no name. */
export function pairsIn(text: string, separator: RegExp): readonly Word[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [, name = '', value = ''] = /^([^=]*?)\s*=\s*([\s\S]*)$/.exec(part) ?? ['', '', part];
      return { name, value: value.replace(/^["']|["']$/g, '').trim() };
    });
}
