import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { escapeText, shortenText } from '../../lib/signals/issues.ts';

const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.string({ maxLength: 80 }),
  fc
    .array(fc.constantFrom('a', '~', ' ', '\n', '\u007f', '\u001f', '\u202e', '\ud800', '😀'))
    .map((all) => all.join('')),
);

/** The text, character by character. */
function spellOut(characters: readonly string[]): string {
  return characters
    .map((character) => {
      if (!unprintable.test(character)) return character;
      const digits = (character.codePointAt(0) ?? 0).toString(16);
      return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`;
    })
    .join('');
}

test('every unprintable character of a text is spelled out, and no other is changed', () => {
  fc.assert(fc.property(texts, (text) => expect(escapeText(text)).toBe(spellOut(Array.from(text)))));
});

test('a text is shown whole up to 28 characters, and cut there if it is longer', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const characters = Array.from(text);
      const shown = spellOut(characters.slice(0, 28));
      expect(shortenText(text)).toBe(characters.length > 28 ? `${shown}…` : shown);
    }),
  );
});
