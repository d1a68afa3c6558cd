import type { FieldName } from '../signals/fields.ts';
import type { OwnMessage } from './own-message.ts';

/** A value of another relay's message, under the name that it has there. */
export interface Word {
  readonly name: string;
  readonly value: string;
}

/** What became of one part of another relay's message. */
export interface TranslatedWord {
  /** As it stands there; a value that may be a secret is left out. */
  readonly theirs: string;
  /** The fields that it became; empty when it became none. */
  readonly ours: OwnMessage;
  /** What differs, what is lost, or why the part is not needed. */
  readonly note: string;
}

/** A message that is being translated. */
export interface MessageDraft {
  readonly message: OwnMessage;
  readonly words: readonly TranslatedWord[];
  readonly missing: readonly string[];
  /** The same, in words of this relay alone: a word of the message may be a secret. */
  readonly reasons: readonly string[];
  /** The values that no output may contain. */
  readonly secrets: readonly string[];
  take(word: Word, fields: OwnMessage, note?: string): void;
  leave(word: Word, note: string): void;
  hide(word: Word): void;
  /**
   * Names what keeps the message from being translated.
   *
   * @param reason the same without words of the message, where it has some
   */
  lack(what: string, reason?: string): void;
}

const secretName =
  /pass(?:word|phrase|wd|code)?|secret|token|key$|licen[cs]e|uuid|^pointer$|^code$|bot_?id|auth|email|^(?:account|user|pin)/i;
/** Longer words of letters and digits may be keys. */
const plainValue =
  /^(?:[\d.,+-]+%{0,2}[a-z]?|[A-Za-z][A-Za-z_ -]{0,23}|[\w:/.-]{1,15}|@[\d.]+|[\w:.-]{0,20}\{\{[\w.]+\}\})$/;

export function isSecretName(name: string): boolean {
  return secretName.test(name.slice(name.lastIndexOf('.') + 1));
}

export function createDraft(): MessageDraft {
  const message: OwnMessage = {};
  const words: TranslatedWord[] = [];
  /** By what is missing: the reason. */
  const missing = new Map<string, string>();
  const secrets: string[] = [];
  const draft: MessageDraft = {
    message,
    words,
    secrets,
    get missing() {
      return [...missing.keys()];
    },
    get reasons() {
      return [...new Set(missing.values())];
    },
    take(word, fields, note = '') {
      for (const [name, value] of Object.entries(fields) as [FieldName, string][]) {
        if (message[name] !== undefined && message[name] !== value)
          draft.lack(`one "${name}": the message gives two`);
        message[name] = value;
      }
      words.push({ theirs: show(word), ours: fields, note });
    },
    leave(word, note) {
      words.push({ theirs: show(word), ours: {}, note });
    },
    hide({ name, value }) {
      if (value.length > 3) secrets.push(value);
      words.push({
        theirs: `${name} (removed)`,
        ours: {},
        note: 'the token in the webhook URL is the only secret here',
      });
    },
    lack: (what, reason = what) => void missing.set(what, reason),
  };
  return draft;
}

function show({ name, value }: Word): string {
  const shown = plainValue.test(value) && value.length <= 60 ? value : '…';
  return name === '' ? shown : `${name}: ${shown}`;
}
