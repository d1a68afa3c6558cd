import { type Issue, RelayError } from '../base/errors.ts';
import type { AlertContext } from '../signals/parse-alert.ts';
import { answerText } from './answer-text.ts';
import { writeMessage } from './own-message.ts';
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
  const answer: Issue = {
    path: '',
    message: `this is a message of ${translation.product}`,
    hint: hintOf(translation),
  };
  return new RelayError(error.code, error.message, { issues: [answer, ...error.issues] });
}

/** A ticker that is not listed, and a time that is wrong, are no matter of words. */
function isOfThisAlert({ path }: Issue): boolean {
  return /(?:^|\.)(?:ticker|time)$/.test(path);
}

function hintOf({ messages, missing, words, advice }: Translation): string {
  const rewriting =
    'with the message in a file, `npx relay translate FILE` rewrites it with its placeholders';
  if (messages.length === 0) return `missing: ${missing.join('; ')}; ${rewriting}`;
  const [only] = messages;
  const written =
    only !== undefined && messages.length === 1
      ? writeMessage(only)
      : `[${messages.map(writeMessage).join(', ')}]`;
  const lost = words.filter(({ note }) => note.startsWith(lossMark));
  return [
    `the message of the same meaning is ${written}`,
    ...lost.map(({ theirs, note }) => `not in it: ${theirs}, ${note.slice(lossMark.length)}`),
    ...advice,
    rewriting,
  ].join('; ');
}

const lossMark = 'LOST: ';
