import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Credentials } from '../../lib/exchange/client.ts';
import type { SecretHolder } from '../../lib/host/secrets.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';

/** The secrets of one account, as they are stored. */
export interface StoredSecrets {
  readonly token: string;
  /** The replaced token, and until when it is valid. */
  readonly replaced: { readonly token: string; readonly validUntilMs: number } | null;
  readonly keys: Credentials | null;
}

/** A secret store with two accounts, `main` and `other`. */
export interface SecretsFixture {
  /** Opens the store as a newly started process does. */
  open(clock: ManualClock): SecretHolder;
  /** Changes a secret as the CLI or an operator does. */
  store(account: 'main' | 'other', secrets: StoredSecrets): Promise<void>;
  /** Writes the text in place of the account's tokens and keys. */
  spoil(account: 'main' | 'other', text: string): Promise<void>;
  close(): Promise<void>;
}

const noonMs = 1_767_268_800_000;
const main: StoredSecrets = {
  token: 'main-token-0123456789',
  replaced: null,
  keys: { apiKey: 'main-key', apiSecret: 'main-secret' },
};
const other: StoredSecrets = { token: 'other-token-0123456789', replaced: null, keys: null };

/** The contract of every secret store. */
export function describeSecrets(name: string, openFixture: () => Promise<SecretsFixture>): void {
  describe(name, () => {
    let fixture: SecretsFixture;
    let clock: ManualClock;

    beforeEach(async () => {
      fixture = await openFixture();
      clock = createManualClock(noonMs);
      await fixture.store('main', main);
      await fixture.store('other', other);
    });
    afterEach(() => fixture.close());

    test('gives each account its own token and its own keys', async () => {
      const secrets = fixture.open(clock);
      expect(await secrets.webhookTokens('main')).toEqual(['main-token-0123456789']);
      expect(await secrets.webhookTokens('other')).toEqual(['other-token-0123456789']);
      expect(await secrets.exchangeKeys('main')).toEqual({ apiKey: 'main-key', apiSecret: 'main-secret' });
    });

    test('has no keys when none were stored', async () => {
      expect(await fixture.open(clock).exchangeKeys('other')).toBeNull();
    });

    test.each(['nobody', '__proto__', ''])('has no secrets for the unknown account "%s"', async (account) => {
      const secrets = fixture.open(clock);
      expect(await secrets.webhookTokens(account)).toEqual([]);
      expect(await secrets.exchangeKeys(account)).toBeNull();
    });

    test('lists a replaced token after the current one until its time', async () => {
      const replaced = { token: 'older-token-0123456789', validUntilMs: noonMs + 1000 };
      await fixture.store('main', { ...main, replaced });
      const secrets = fixture.open(clock);
      expect(await secrets.webhookTokens('main')).toEqual([
        'main-token-0123456789',
        'older-token-0123456789',
      ]);
      clock.advance(1000);
      expect(await secrets.webhookTokens('main')).toEqual(['main-token-0123456789']);
    });

    test('lists all its secrets: every valid token, every key and its secret, and no expired token', async () => {
      const replaced = { token: 'older-token-0123456789', validUntilMs: noonMs + 1000 };
      await fixture.store('main', { ...main, replaced });
      const secrets = fixture.open(clock);
      for (const account of ['main', 'other'])
        await Promise.all([secrets.webhookTokens(account), secrets.exchangeKeys(account)]);
      expect([...(await secrets.heldSecrets())].sort()).toEqual([
        'main-key',
        'main-secret',
        'main-token-0123456789',
        'older-token-0123456789',
        'other-token-0123456789',
      ]);
      clock.advance(1000);
      expect(await secrets.heldSecrets()).not.toContain('older-token-0123456789');
    });

    test('returns a new key at once when the newest is requested', async () => {
      const secrets = fixture.open(clock);
      await secrets.exchangeKeys('main');
      await fixture.store('main', { ...main, keys: { apiKey: 'second-key', apiSecret: 'second-secret' } });
      expect(await secrets.exchangeKeys('main', 'newest')).toEqual({
        apiKey: 'second-key',
        apiSecret: 'second-secret',
      });
      expect(await secrets.exchangeKeys('main')).toMatchObject({ apiKey: 'second-key' });
    });

    test('returns a new token within seconds when the newest is requested', async () => {
      const secrets = fixture.open(clock);
      await secrets.webhookTokens('main');
      await fixture.store('main', { ...main, token: 'third-token-0123456789' });
      clock.advance(10_000);
      expect(await secrets.webhookTokens('main', 'newest')).toEqual(['third-token-0123456789']);
    });

    test('returns every change within five minutes, even from the cache', async () => {
      const secrets = fixture.open(clock);
      await secrets.webhookTokens('main');
      await secrets.exchangeKeys('main');
      await fixture.store('main', { token: 'third-token-0123456789', replaced: null, keys: null });
      clock.advance(300_000);
      expect(await secrets.webhookTokens('main')).toEqual(['third-token-0123456789']);
      expect(await secrets.exchangeKeys('main')).toBeNull();
    });

    test.each(['', 'open-sesame-open-sesame', '["open-sesame-open-sesame"]', '{"main":"open-sesame-open"}'])(
      'rejects %j without quoting it',
      async (text) => {
        await fixture.spoil('main', text);
        const secrets = fixture.open(clock);
        const questions = [secrets.webhookTokens('main'), secrets.exchangeKeys('main')];
        for (const { reason } of (await Promise.allSettled(questions)) as PromiseRejectedResult[]) {
          expect(reason).toMatchObject({ code: 'secrets_missing' });
          expect(String(reason)).not.toContain('sesame');
        }
      },
    );
  });
}
