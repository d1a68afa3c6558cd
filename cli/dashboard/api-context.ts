import type * as z from 'zod';
import { createUsageFailure } from '../failure.ts';
import type { Session } from '../session/session.ts';
import type { AskedCommand } from './ask-command.ts';

/** What the calls of the page work with. */
export interface ApiContext {
  readonly session: Session;
  readonly isReadOnly: boolean;
  /** Runs a command of the tool, and returns its document. */
  ask(command: AskedCommand): Promise<unknown>;
}

/** @throws CommandFailure (usage) naming what is wrong */
export function parseWith<Output>(schema: z.ZodType<Output>, value: unknown): Output {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  const place = issue?.path.join('.') ?? '';
  throw createUsageFailure(
    `${place === '' ? 'the request' : place}: ${issue?.message ?? 'cannot be read'}`,
    'Correct it, or reload the page.',
  );
}
