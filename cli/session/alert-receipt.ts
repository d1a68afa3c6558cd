import * as z from 'zod';
import { catalogue, type ErrorCode } from '../../lib/base/errors.ts';
import { CommandFailure } from '../failure.ts';
import type { LocalResponse } from './http.ts';

const SignalReceiptSchema = z.object({
  signalId: z.string(),
  status: z.string(),
  duplicate: z.boolean().default(false),
});
/** What the relay says of one signal of an alert that it took. */
export type SignalReceipt = z.output<typeof SignalReceiptSchema>;

const Receipt = z.union([
  z.object({ signals: z.array(SignalReceiptSchema) }),
  SignalReceiptSchema.transform((receipt) => ({ signals: [receipt] })),
]);

const Refusal = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    issues: z.array(z.object({ path: z.string(), message: z.string(), hint: z.string() })),
  }),
});

/**
 * Reads the response of the webhook.
 *
 * @param recipient the relay's name in messages
 * @returns the signals of the alert, at least one
 * @throws CommandFailure when the alert was refused, or another program responded
 */
export function readReceipt(response: LocalResponse, recipient: string): readonly SignalReceipt[] {
  const receipt = Receipt.safeParse(response.body);
  if (!receipt.success || response.httpStatus >= 300) throw createRefusal(response, recipient);
  return receipt.data.signals;
}

function createRefusal({ httpStatus, body }: LocalResponse, recipient: string): CommandFailure {
  const refusal = Refusal.safeParse(body);
  if (!refusal.success)
    return new CommandFailure(
      'strange_answer',
      `${recipient} responded with HTTP ${httpStatus}, which is not a response of a relay`,
      'Another program listens there: stop it, or start the relay on another port.',
    );
  const { code, message, issues } = refusal.data.error;
  const action = Object.hasOwn(catalogue, code) ? catalogue[code as ErrorCode].action : '';
  return new CommandFailure(code, `refused with HTTP ${httpStatus}: ${message}`, action, { issues });
}
