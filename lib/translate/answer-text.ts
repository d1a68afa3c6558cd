import { type Issue, RelayError } from '../base/errors.ts';
import type { FieldName } from '../signals/fields.ts';
import type { AlertContext } from '../signals/parse-alert.ts';
import { answerCommand, commandReaders } from './answer-command.ts';
import { type KnownText, knownTextOf } from './known-texts.ts';
import { completeOrder, issuesOf, membersOf, type OwnMessage, writeMessage } from './own-message.ts';
import { readPlainText, seriesInText, type TextReading } from './read-text.ts';
import { seriesDoubt, shareDoubt } from './text-doubts.ts';

/** What a text is, and what to send instead of it. */
export interface TextAnswer {
  /** Completes "this is …". */
  readonly form: string;
  /** The signals of the same meaning, which the relay takes; empty when something is missing. */
  readonly messages: readonly OwnMessage[];
  /** Of the messages, what the reader must know beside it. */
  readonly notes: readonly string[];
  readonly hint: string;
}

/** Of a text only its beginning is looked at: forms are known by it, and no alert in words is longer. */
const lookedAt = 2_000;

/**
 * Answers an alert that is no JSON: with the message of the same meaning to paste where it can be told, otherwise with
 * what is missing. The alert stays refused; nothing here makes it an order.
 *
 * The answer repeats only words of the relay's vocabulary, symbols and plain numbers: the rest of the text may be a
 * secret.
 *
 * @param error why the alert was refused
 * @returns the error to respond with: the same one when there is nothing to add
 */
export function answerText(error: unknown, body: Uint8Array, context: AlertContext): unknown {
  if (!(error instanceof RelayError) || error.code !== 'invalid_json') return error;
  const answer = explainText(new TextDecoder().decode(body), context);
  if (answer === null) return error;
  const { form, hint } = answer;
  return new RelayError('invalid_json', `the alert is not valid JSON: it is ${form}`, {
    issues: [{ path: '', message: `this is ${form}, not JSON`, hint }],
  });
}

/** @returns null for a text that says nothing of an order, and for broken JSON */
export function explainText(text: string, context: AlertContext): TextAnswer | null {
  const known = knownTextOf(text.slice(0, lookedAt));
  if (known !== undefined) {
    const series = seriesInText(text.slice(0, lookedAt));
    if (series !== undefined) return answerSeries(series, known);
    const { form, advice } = known;
    const read = commandReaders[form];
    if (read !== undefined) return { form, ...answerCommand(read(text.slice(0, lookedAt)), context) };
    const message = known.message && completeOrder(known.message, context.account);
    return {
      form,
      messages: message === null ? [] : [message],
      notes: [advice],
      hint: message === null ? advice : `${offer(message)}; ${advice}`,
    };
  }
  const reading = readPlainText(text, context.tickers);
  return reading === null ? null : answerReading(reading, context);
}

/** A message without the series would not mean the same. */
function answerSeries(series: string, { form, message, advice }: KnownText): TextAnswer {
  const notes = message === null ? [advice] : [];
  const hint = ['text is never an order', seriesDoubt(series), ...notes].join('; ');
  return { form, messages: [], notes, hint };
}

function offer(message: OwnMessage): string {
  return `text is never an order; the message of the same meaning is ${writeMessage(message)}`;
}

function answerReading(
  { form, message: read, doubts, losses, unclear, parts }: TextReading,
  context: AlertContext,
): TextAnswer {
  const message = completeOrder(read, context.account);
  const issues = issuesOf([message], context);
  const [refused, missing] = split(issues, message);
  // A word that is left out could be the stop, the unit or the condition of the order.
  const unread = parts.filter(({ isUnderstood }) => !isUnderstood).length;
  // A ticker that the configuration lacks is no fault of the message: its hint says which line to add.
  const reasons = [
    ...doubts,
    ...(unread > 0
      ? [
          `${unread} of its ${parts.length} words or values mean nothing to the relay, and could change the order`,
        ]
      : []),
    ...(mayBeShareOfPosition(message, context) ? [shareDoubt] : []),
    ...missing.map(({ path, message: what, hint }) => `${path}: ${what} (${hint})`),
    ...refused.filter(({ path }) => path !== 'ticker').map((issue) => complain(issue, message)),
  ];
  const notes = [
    ...refused.filter(({ path }) => path === 'ticker').map(({ hint }) => hint),
    ...losses.map((loss) => `not in it: ${loss}`),
  ];
  if (reasons.length === 0)
    return { form, messages: [message], notes, hint: [offer(message), ...notes].join('; ') };
  // What was only completed stands in no word of the text.
  const understood = membersOf(read)
    .filter(([name]) => name !== 'time' && !unclear.has(name as FieldName))
    .filter(([name]) => !refused.some(({ path }) => path === name))
    .map(([name, value]) => `"${name}": "${value}"`);
  return {
    form,
    messages: [],
    notes,
    hint: [
      'text is never an order',
      `understood: ${understood.join(', ')}`,
      `missing: ${reasons.join('; ')}`,
      ...notes,
    ].join('; '),
  };
}

/** Whether a sell of so many per cent may mean the balance or the position: only spot has no positions. */
function mayBeShareOfPosition(
  { action = '', quantityPercent, of, ticker = '' }: OwnMessage,
  { account, tickers }: AlertContext,
): boolean {
  if (!/^(?:sell|\{\{.*)$/.test(action) || quantityPercent === undefined || of !== undefined) return false;
  return account.markets[tickers[ticker] ?? '']?.tradesOn !== 'spot';
}

/** Only a number is certain to be no secret: the complaint about it may repeat it. */
function complain({ path, message: what, hint }: Issue, message: OwnMessage): string {
  return /^[\d.]+%?$/.test(message[path as FieldName] ?? '')
    ? `${path}: ${what} (${hint})`
    : `the relay has no such "${path}"`;
}

/** The issues of values that are there, and of values that are not. */
function split(issues: readonly Issue[], message: OwnMessage): readonly [readonly Issue[], readonly Issue[]] {
  const isThere = ({ path }: Issue) => message[path as FieldName] !== undefined;
  return [issues.filter(isThere), issues.filter((issue) => !isThere(issue))];
}
