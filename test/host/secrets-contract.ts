import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Credentials } from '../../lib/exchange/client.ts';
import type { SecretHolder } from '../../lib/host/secrets.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';

/** The secrets of one account, as they are stored. */
export interface StoredSecrets {
  readonly token: string;
  /** The token that was replaced, and until when it opens. */
  readonly replaced: { readonly token: string; readonly validUntilMs: number } | null;
  readonly keys: Credentials | null;
}

/** A place for secrets with two accounts, `main` and `other`. */
export interface SecretsFixture {
  /** The store as a process opens it that starts now. */
  open(clock: ManualClock): SecretHolder;
  /** As the operator's tool does it, or somebody by hand. */
  store(account: 'main' | 'other', secrets: StoredSecrets): Promise<void>;
  /** Puts the text where the account's tokens and keys belong. */
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

/** What every store of secrets keeps to, whoever keeps them. */
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

    test('has no keys where none were stored', async () => {
      expect(await fixture.open(clock).exchangeKeys('other')).toBeNull();
    });

    test.each(['nobody', '__proto__', ''])('knows nothing of the account "%s"', async (account) => {
      const secrets = fixture.open(clock);
      expect(await secrets.webhookTokens(account)).toEqual([]);
      expect(await secrets.exchangeKeys(account)).toBeNull();
    });

    test('lets a replaced token in until its time, after the current one', async () => {
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

    test('tells all it holds: every token that opens, every key and its secret, and nothing outlived', async () => {
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

    test('knows a new key at once when the newest is asked for', async () => {
      const secrets = fixture.open(clock);
      await secrets.exchangeKeys('main');
      await fixture.store('main', { ...main, keys: { apiKey: 'second-key', apiSecret: 'second-secret' } });
      expect(await secrets.exchangeKeys('main', 'newest')).toEqual({
        apiKey: 'second-key',
        apiSecret: 'second-secret',
      });
      expect(await secrets.exchangeKeys('main')).toMatchObject({ apiKey: 'second-key' });
    });

    test('knows a new token within seconds when the newest is asked for', async () => {
      const secrets = fixture.open(clock);
      await secrets.webhookTokens('main');
      await fixture.store('main', { ...main, token: 'third-token-0123456789' });
      clock.advance(10_000);
      expect(await secrets.webhookTokens('main', 'newest')).toEqual(['third-token-0123456789']);
    });

    test('knows every change within five minutes, asked or not', async () => {
      const secrets = fixture.open(clock);
      await secrets.webhookTokens('main');
      await secrets.exchangeKeys('main');
      await fixture.store('main', { token: 'third-token-0123456789', replaced: null, keys: null });
      clock.advance(300_000);
      expect(await secrets.webhookTokens('main')).toEqual(['third-token-0123456789']);
      expect(await secrets.exchangeKeys('main')).toBeNull();
    });

    test.each(['', 'open-sesame-open-sesame', '["open-sesame-open-sesame"]', '{"main":"open-sesame-open"}'])(
      'says that %j is no secret of ours, without repeating it',
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
