import { type Issue, RelayError } from '../base/errors.ts';
import type { FieldName } from '../signals/fields.ts';
import { plainWord } from '../signals/foreign-words.ts';
import type { AlertContext } from '../signals/parse-alert.ts';
import { type JsonNode, parseJson } from '../signals/parse-json.ts';
import { commandReaders } from './answer-command.ts';
import { explainText } from './answer-text.ts';
import { readCrossTrade } from './crosstrade.ts';
import type { MessageDraft, TranslatedWord, Word } from './draft.ts';
import type { TextPart } from './interpret-tokens.ts';
import { isNamed, productOf } from './json-products.ts';
import { forms, knownTextOf } from './known-texts.ts';
import { completeOrder, issuesOf, issuesOfText, type OwnMessage, writeMessage } from './own-message.ts';
import { readPlainText } from './read-text.ts';
import { applyRules } from './rules.ts';

/** Another relay's message in the words of this one. */
export interface Translation {
  /** Where the message comes from. */
  readonly product: string;
  /** Whether the product is known by the message. */
  readonly isNamed: boolean;
  /** Whether the relay takes the message as it stands, placeholders filled. */
  readonly isTaken: boolean;
  /** The signals to paste, which the relay's own reader takes; empty when something is missing. */
  readonly messages: readonly OwnMessage[];
  /** Word by word. No secret stands in it. */
  readonly words: readonly TranslatedWord[];
  /** What keeps the message from being translated. */
  readonly missing: readonly string[];
  /** What the configuration still lacks for it: a line of `tickers`. */
  readonly advice: readonly string[];
}

type Unchecked = Omit<Translation, 'isTaken'>;

const textProducts: Readonly<Record<string, string>> = {
  [forms.pineConnector]: 'PineConnector',
  [forms.alertatron]: 'Alertatron',
  [forms.autoview]: 'Autoview',
  [forms.wunderTrading]: 'WunderTrading',
};

/**
 * Translates a message of another relay, or a text. Its placeholders are kept. Nothing is guessed: what cannot be told
 * is named in `missing`.
 */
export function translateMessage(text: string, context: AlertContext): Translation {
  const root = readJson(text);
  if (root !== null)
    return { ...translateJson(root, context), isTaken: issuesOfText(text, context).every(isTicker) };
  return { ...translateCommand(text, context), isTaken: false };
}

function translateCommand(text: string, context: AlertContext): Unchecked {
  if (/\bkey\s*=/.test(text) && /\bcommand\s*=/.test(text))
    return { ...finish(readCrossTrade(text), context), product: 'CrossTrade', isNamed: true };
  const answer = explainText(text, context);
  const product = textProducts[answer?.form ?? ''];
  const read = commandReaders[answer?.form ?? ''];
  if (product !== undefined && read !== undefined)
    return { ...finish(read(text), context), product, isNamed: true };
  return translateText(text, answer, context);
}

/** The message as JSON; placeholders without quotes, which TradingView fills with numbers, count as text. */
function readJson(text: string): JsonNode | null {
  const quoted = text.replace(/([:[,]\s*)(\{\{[^{}"]*\}\})(?=\s*[,}\]])/g, '$1"$2"');
  try {
    const root = parseJson(new TextEncoder().encode(quoted));
    return root.kind === 'object' || root.kind === 'array' ? root : null;
  } catch (error) {
    if (error instanceof RelayError) return null;
    throw error;
  }
}

function translateJson(root: JsonNode, context: AlertContext): Unchecked {
  const signals = root.kind === 'array' ? root.items : [root];
  const words = signals.map((signal) => wordsOf(signal));
  const products = words.map((own: readonly Word[]) =>
    productOf(new Map(own.map(({ name, value }) => [plainWord(name), value]))),
  );
  const drafts = words.map((own, index) => applyRules(own, products[index]?.rules ?? {}));
  return {
    ...finish(drafts, context),
    // An empty list is of nobody.
    product: [...new Set(products.map(({ name }) => name))].join(', ') || 'an empty list',
    isNamed: products.length > 0 && products.every(isNamed),
  };
}

function translateText(
  text: string,
  answer: ReturnType<typeof explainText>,
  context: AlertContext,
): Unchecked {
  const reading = knownTextOf(text) !== undefined ? null : readPlainText(text, context.tickers);
  const messages = answer?.messages ?? [];
  const words = (reading?.parts ?? []).map(({ theirs, fields, isUnderstood }) => ({
    theirs: fields.length > 0 ? theirs : '…',
    ours: Object.fromEntries(
      fields
        .filter((field) => reading?.unclear.has(field) === false)
        .map((field) => [field, reading?.message[field] ?? '']),
    ),
    note: noteOf({ fields, isUnderstood }, reading?.unclear ?? new Set()),
  }));
  return {
    product: answer?.form ?? 'an unknown text',
    isNamed: false,
    messages,
    words,
    missing: messages.length > 0 ? [] : [answer?.hint ?? 'an action and a ticker: the text names neither'],
    advice: messages.length > 0 ? (answer?.notes ?? []) : [],
  };
}

function noteOf(
  { fields, isUnderstood }: Pick<TextPart, 'fields' | 'isUnderstood'>,
  unclear: ReadonlySet<FieldName>,
): string {
  if (fields.length > 0)
    return fields.some((field) => unclear.has(field)) ? 'its meaning cannot be told' : '';
  return isUnderstood ? 'changes nothing about the order' : 'not understood, and not shown';
}

const isTicker = ({ path }: Issue): boolean => /(?:^|\.)ticker$/.test(path);

/** Completes the messages, has them checked by the relay's own reader, and removes what is secret. */
function finish(
  drafts: readonly MessageDraft[],
  context: AlertContext,
): Omit<Unchecked, 'product' | 'isNamed'> {
  const messages = drafts.map(({ message }) => completeOrder(message, context.account));
  const missing = drafts.flatMap((draft) => draft.missing);
  const issues = missing.length > 0 || messages.length === 0 ? [] : issuesOf(messages, context);
  const secrets = drafts.flatMap((draft) => draft.secrets);
  const reveals = (text: string) => secrets.some((secret) => text.includes(secret));
  const open = [
    ...missing,
    ...(messages.length === 0 ? ['a command: there is none'] : []),
    ...issues
      .filter((issue) => !isMappable(issue, messages))
      .map(({ path, message, hint }) => `${path}: ${message} (${hint})`),
    ...(messages.some((message) => reveals(writeMessage(message)))
      ? ['a message without the secret, which stands in other values, too']
      : []),
  ].map((line) => (reveals(line) ? 'a value that is no secret' : line));
  return {
    messages: open.length > 0 ? [] : messages,
    words: drafts.flatMap(({ words }) =>
      words.map((word) =>
        reveals(JSON.stringify([word.theirs, word.ours]))
          ? { theirs: '(removed)', ours: {}, note: word.note }
          : word,
      ),
    ),
    missing: [...new Set(open)],
    advice: issues.filter((issue) => isMappable(issue, messages)).map(({ hint }) => hint),
  };
}

/** Whether the message is right, and only its ticker is missing in the configuration. */
function isMappable(issue: Issue, messages: readonly OwnMessage[]): boolean {
  return isTicker(issue) && messages.every(({ ticker }) => ticker !== undefined);
}

/** The values of an object, those of its members' objects under dotted names; lists count from 0. */
function wordsOf(node: JsonNode, name = ''): readonly Word[] {
  switch (node.kind) {
    case 'object':
      return node.members.flatMap((member) =>
        wordsOf(member.value, name === '' ? member.name : `${name}.${member.name}`),
      );
    case 'array':
      return node.items.flatMap((item, index) => wordsOf(item, `${name}.${index}`));
    case 'string':
    case 'number':
      return [{ name, value: node.text.trim() }];
    case 'boolean':
      return [{ name, value: String(node.value) }];
    case 'null':
      return [];
  }
}
