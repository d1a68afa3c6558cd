import type { Evidence, Violation } from './evidence.ts';
import type { Secret, Writing } from './facts.ts';

/** Signatures are HMAC-SHA512 in hex; nothing else in a log is as long. */
const signature = /[0-9a-f]{128}/;

/** Checks that nothing the relay has written contains a secret. */
export function checkWritings({ writings, secrets }: Evidence): readonly Violation[] {
  return writings.flatMap((writing) => findLeaks(writing, secrets));
}

function findLeaks({ place, kind, text }: Writing, secrets: readonly Secret[]): readonly Violation[] {
  const isLog = kind === 'log';
  const found = secrets
    .filter(({ value, mayBeStored }) => (isLog || !mayBeStored) && text.includes(value))
    .map(({ name }) => name);
  const all = isLog && signature.test(text) ? [...found, 'a signature'] : found;
  return all.map((name) => ({ wrong: 'leak', what: `${place} contains ${name}`, details: [] }));
}
