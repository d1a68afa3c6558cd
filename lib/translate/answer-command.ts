import type { Issue } from '../base/errors.ts';
import type { FieldName } from '../signals/fields.ts';
import type { AlertContext } from '../signals/parse-alert.ts';
import { readAlertatron } from './alertatron.ts';
import { readAutoview } from './autoview.ts';
import { readCrossTrade } from './crosstrade.ts';
import type { MessageDraft } from './draft.ts';
import { readWunderTrading } from './json-products.ts';
import { forms, rewriting } from './known-texts.ts';
import { completeOrder, issuesOf, type OwnMessage, writeMessages } from './own-message.ts';
import type { TextReader } from './pairs.ts';
import { readPineConnector } from './pineconnector.ts';
import { inTheirUnit } from './rules.ts';
import { tickerOf } from './symbols.ts';

/** What became of a command in the answer to a text. */
export interface CommandAnswer {
  /** The signals of the same meaning, which the relay takes; empty when something is missing or lost. */
  readonly messages: readonly OwnMessage[];
  /** Of the messages, what the reader must know beside them. */
  readonly notes: readonly string[];
  readonly hint: string;
}

/** Which relay's command a text is, by its form. */
export const commandReaders: Readonly<Record<string, TextReader>> = {
  [forms.pineConnector]: readPineConnector,
  [forms.wunderTrading]: (text) => [readWunderTrading(text)],
  [forms.alertatron]: readAlertatron,
  [forms.autoview]: readAutoview,
  [forms.crossTrade]: readCrossTrade,
};

/**
 * Answers a command of another relay with the message of the same meaning, or with what is missing or would be another
 * thing here. Only words of this relay, symbols and plain numbers are repeated: the rest may be a secret.
 */
export function answerCommand(drafts: readonly MessageDraft[], context: AlertContext): CommandAnswer {
  const messages = drafts.map((draft) => ownMessageOf(draft, context));
  const lacks = lacksOf(drafts, messages);
  const issues = lacks.length > 0 ? [] : issuesOf(messages, context);
  const missing = [...lacks, ...issues.filter((issue) => !isTicker(issue)).map(complaintIn(messages))];
  const changes = changesOf(drafts);
  if (missing.length > 0 || changes.length > 0)
    return {
      messages: [],
      notes: [rewriting],
      hint: [
        ...(missing.length > 0 ? [`missing: ${distinct(missing).join('; ')}`] : []),
        ...(changes.length > 0 ? [`another thing here: ${changes.join('; ')}`] : []),
        rewriting,
      ].join('; '),
    };
  const notes = distinct([
    ...issues.map(({ hint }) => hint),
    ...(drafts.some(hasTheirUnit) ? [`"quantity" is ${inTheirUnit}`] : []),
  ]);
  const offer = `text is never an order; the message of the same meaning is ${writeMessages(messages)}`;
  return { messages, notes, hint: [offer, ...notes].join('; ') };
}

/** A comment only informs, and may be anything. */
function ownMessageOf({ message }: MessageDraft, { tickers, account }: AlertContext): OwnMessage {
  const { comment, strategy, ticker, ...rest } = message;
  const own = tickerOf(ticker ?? '', tickers);
  return completeOrder(
    {
      ...(own === undefined ? {} : { ticker: own }),
      ...rest,
      ...(isPlaceholder(comment) ? { comment } : {}),
      ...(isPlaceholder(strategy) ? { strategy } : {}),
    },
    account,
  );
}

function isPlaceholder(text: string | undefined): text is string {
  return text !== undefined && /^\{\{strategy\.order\.(?:id|comment)\}\}$/.test(text);
}

function lacksOf(drafts: readonly MessageDraft[], messages: readonly OwnMessage[]): readonly string[] {
  return [
    ...(drafts.length === 0 ? ['a command: there is none'] : []),
    ...drafts.flatMap(({ reasons }) => reasons),
    ...(messages.some(({ ticker }) => ticker === undefined) ? ['a "ticker": a symbol of a market'] : []),
  ];
}

/** What is lost, or would be another order here. */
function changesOf(drafts: readonly MessageDraft[]): readonly string[] {
  const notes = drafts.flatMap(({ words }) => words.map(({ note }) => note));
  return distinct(notes.flatMap((note) => /^(?:LOST|DIFFERS): (.*)$/s.exec(note)?.[1] ?? []));
}

function hasTheirUnit({ words }: MessageDraft): boolean {
  return words.some(({ note }) => note === inTheirUnit);
}

/** Of a value that the relay refuses only the field is named. */
function complaintIn(messages: readonly OwnMessage[]): (issue: Issue) => string {
  return ({ path, message: what, hint }) => {
    const [, index = '0', name = path] = /^\[(\d+)\]\.(.*)$/.exec(path) ?? [];
    const isGiven = messages[Number(index)]?.[name as FieldName] !== undefined;
    return isGiven ? `the relay has no such "${name}"` : `${name}: ${what} (${hint})`;
  };
}

function isTicker({ path }: Issue): boolean {
  return /(?:^|\.)ticker$/.test(path);
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
