import { type Issue, RelayError } from '../base/errors.ts';
import type { AlertContext } from '../signals/parse-alert.ts';
import { answerText } from './answer-text.ts';
import { writeMessages } from './own-message.ts';
import { type Translation, translateMessage } from './translate-message.ts';

/**
 * Answers a refused alert with the message of the same meaning to paste, or with what keeps it from being translated. The
 * alert stays refused; nothing here makes it an order.
 *
 * @param error why the alert was refused
 * @returns the error to respond with: the same one when there is nothing to add
 */
export function answerAlert(error: unknown, body: Uint8Array, context: AlertContext): unknown {
  return error instanceof RelayError && error.code === 'invalid_signal'
    ? answerJson(error, body, context)
    : answerText(error, body, context);
}

/** Only what is certain to come from another relay is translated: elsewhere the issues say what to correct. */
function answerJson(error: RelayError, body: Uint8Array, context: AlertContext): RelayError {
  if (error.issues.every(isOfThisAlert)) return error;
  const translation = translateMessage(new TextDecoder().decode(body), context);
  if (!translation.isNamed || translation.isTaken) return error;
  const answer = { path: '', message: `this is a message of ${translation.product}` };
  // What the message says on its own comes first, unless it can simply be replaced.
  const issues = isSame(translation)
    ? [{ ...answer, hint: offer(translation) }, ...error.issues]
    : [...error.issues, { ...answer, hint: rewriting }];
  return new RelayError(error.code, error.message, { issues });
}

/** A ticker that is not listed, and a time that is wrong, are no matter of words. */
function isOfThisAlert({ path }: Issue): boolean {
  return /(?:^|\.)(?:ticker|time)$/.test(path);
}

/** Whether the translation means the same: nothing is missing, and nothing is lost. */
function isSame({ messages, words }: Translation): boolean {
  return messages.length > 0 && !words.some(({ note }) => /^(?:LOST|DIFFERS): /.test(note));
}

const rewriting =
  'save the message to a file: `npx relay translate FILE` says what each part of it becomes here, and keeps its placeholders';

function offer({ messages, advice }: Translation): string {
  return [`the message of the same meaning is ${writeMessages(messages)}`, ...advice, rewriting].join('; ');
}
