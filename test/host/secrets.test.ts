import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileSecrets } from '../../lib/host/file-secrets.ts';
import { describeSecrets, type StoredSecrets } from './secrets-contract.ts';

describeSecrets('secrets in a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-secrets-'));
  const path = join(folder, 'secrets.json');
  const stored: Record<string, unknown> = {};
  const contentOf = ({ token, replaced, keys }: StoredSecrets) => ({
    webhookTokens: replaced === null ? [token] : [token, replaced],
    exchangeKeys: keys,
  });
  return {
    open: (clock) => createFileSecrets(path, clock),
    async store(account, secrets) {
      stored[account] = contentOf(secrets);
      writeFileSync(path, JSON.stringify(stored));
    },
    async spoil(_, text) {
      writeFileSync(path, text);
    },
    close: async () => rmSync(folder, { recursive: true }),
  };
});
