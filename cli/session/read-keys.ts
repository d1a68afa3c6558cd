import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { readJson } from '../../lib/base/json.ts';
import type { Credentials } from '../../lib/exchange/client.ts';
import { createUsageFailure } from '../failure.ts';
import type { Terminal } from '../show/terminal.ts';
import { askHidden } from './ask-hidden.ts';

/** Keys of the exchange are printable and contain no spaces. */
const KeyText = z.string().regex(/^[!-~]{1,512}$/);
const KeysField = z.strictObject({ apiKey: KeyText, apiSecret: KeyText });

/**
 * Reads an exchange key from the terminal without echo, or from standard input: as two lines, key and secret,
 * or as JSON with `apiKey` and `apiSecret`.
 *
 * A command-line argument would stay in the shell's history and be visible in the list of processes.
 *
 * @throws CommandFailure (usage) when the input is not a key; the message never quotes the input
 */
export async function readKeys(terminal: Terminal): Promise<Credentials> {
  const { stdin } = terminal;
  const given = stdin.isTTY ? await askForKeys(terminal) : parseInput(await text(stdin));
  const keys = KeysField.safeParse(given);
  if (keys.success) return keys.data;
  const fields = [...new Set(keys.error.issues.map(({ path }) => path.join('.') || 'the input'))];
  throw createUsageFailure(
    `the input is not an exchange key: ${fields.join(' and ')} cannot be used`,
    'Give the key and the secret as two lines, or as {"apiKey": "…", "apiSecret": "…"}; nothing was stored.',
  );
}

function parseInput(input: string): unknown {
  const trimmed = input.trim();
  if (trimmed.startsWith('{')) return readJson(trimmed);
  const [apiKey, apiSecret, ...more] = trimmed.split(/\r?\n/).map((line) => line.trim());
  return more.length === 0 ? { apiKey, apiSecret } : undefined;
}

async function askForKeys(terminal: Terminal): Promise<unknown> {
  const [apiKey, apiSecret] = (await askHidden(terminal, ['API key', 'API secret'])) ?? [];
  return apiSecret === undefined ? undefined : { apiKey, apiSecret };
}
