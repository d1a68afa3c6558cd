import * as z from 'zod/mini';
import { RelayError } from '../base/errors.ts';
import { readJson } from '../base/json.ts';
import type { SignalMessage } from './queue.ts';

const SignalMessageSchema = z.strictObject({
  account: z.string(),
  signalId: z.string(),
  market: z.string(),
});

/**
 * Reads the body of a message.
 *
 * @throws RelayError `message_invalid` when the relay did not write it; it will become a dead letter
 */
export function parseSignalMessage(body: string): SignalMessage {
  const { data, error } = SignalMessageSchema.safeParse(readJson(body));
  if (data !== undefined) return data;
  throw new RelayError('message_invalid', 'the message is not a pointer to a signal', { cause: error });
}
