import { describe, expect, test } from '@jest/globals';
import {
  arrivalFingerprintOf,
  clientOrderIdOf,
  fingerprintOf,
  isExplicitId,
  isSignalId,
  refusalIdOf,
  signalIdOf,
} from '../../lib/signals/identity.ts';
import { bytesOf } from './reading.ts';

/** SHA-256 of the three bytes `abc`, from FIPS 180-4's own examples. */
const fingerprint = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

describe('the identity of a signal', () => {
  test('the fingerprint is the SHA-256 of the bytes in hex', () => {
    expect(fingerprintOf(bytesOf('abc'))).toBe(fingerprint);
  });

  test('an explicit id is kept as it is, alone and in an array', () => {
    expect(signalIdOf('Long-7', fingerprint, null)).toBe('Long-7');
    expect(signalIdOf('Long-7', fingerprint, 3)).toBe('Long-7');
  });

  test('without one, the id comes from the bytes and the place in the array', () => {
    expect(signalIdOf(null, fingerprint, null)).toBe('h-ba7816bf8f01cfea414140de5dae2223');
    expect(signalIdOf(null, fingerprint, 0)).toBe('h-ba7816bf8f01cfea414140de5dae2223-0');
    expect(signalIdOf(null, fingerprint, 9)).toBe('h-ba7816bf8f01cfea414140de5dae2223-9');
  });

  test('two arrivals of the same bytes differ from the first millisecond on, and give ids of the known form', () => {
    const [one, next] = [1_767_268_800_000, 1_767_268_800_001].map((atMs) =>
      arrivalFingerprintOf(fingerprint, atMs),
    );
    expect(arrivalFingerprintOf(fingerprint, 1_767_268_800_000)).toBe(one);
    expect(next).not.toBe(one);
    expect(signalIdOf(null, one ?? '', 9)).toMatch(/^h-[0-9a-f]{32}-9$/);
    expect(isSignalId(signalIdOf(null, one ?? '', null))).toBe(true);
  });

  test('a refusal has an id that no signal can have', () => {
    const refusalId = refusalIdOf(fingerprint, null);

    expect(refusalId).toBe('refused-ba7816bf8f01cfea414140de5dae2223');
    expect(isExplicitId(refusalId)).toBe(false);
    expect(isSignalId(refusalId)).toBe(false);
  });

  test('a refusal of an alert with an id begins with that id, and no alert can choose one like it', () => {
    const refusalId = refusalIdOf(fingerprint, 'Long-7');

    expect(refusalId).toBe('Long-7@refused-ba7816bf8f01');
    expect(isExplicitId(refusalId)).toBe(false);
    expect(isSignalId(refusalId)).toBe(false);
  });

  test.each(['a', 'Long.7_b:c-d', '2026-01-31T12:00:00Z', 'H-1', 'h', 'x'.repeat(64)])(
    '%j may be chosen as an id',
    (id) => {
      expect(isExplicitId(id)).toBe(true);
    },
  );

  test.each(['', 'x'.repeat(65), 'Long 7', 'é', 'a\n', 'h-1', 'refused-1', '{{x}}', 'a/b'])(
    '%j may not be chosen as an id',
    (id) => {
      expect(isExplicitId(id)).toBe(false);
    },
  );

  test('a derived id names a signal, though no alert may choose it', () => {
    expect(isSignalId('h-ba7816bf8f01cfea414140de5dae2223-0')).toBe(true);
  });
});

describe('clientOrderIdOf', () => {
  test('is always the same for the same account and signal', () => {
    // sha256 of "main\nLong-7", cut; worked out with sha256sum.
    expect(clientOrderIdOf('main', 'Long-7')).toBe('tr-16d7e227c47c20b68ed8599a9b0b1');
  });

  test('differs by account and by signal', () => {
    const ids = [
      clientOrderIdOf('main', 'Long-7'),
      clientOrderIdOf('main', 'Long-8'),
      clientOrderIdOf('second', 'Long-7'),
      clientOrderIdOf('mai', 'nLong-7'),
    ];

    expect(new Set(ids).size).toBe(4);
  });

  test.each(['a', 'x'.repeat(64), 'A:b.c_d'])(
    'of %j is at most 32 characters the exchange takes',
    (signalId) => {
      expect(clientOrderIdOf('main', signalId)).toMatch(/^[a-z0-9-]{32}$/);
    },
  );
});
