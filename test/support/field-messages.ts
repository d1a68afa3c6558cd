import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Posted } from './world.ts';

/** One message of another product, as that product documents it, and what it means there. */
export interface FieldMessage {
  /** The file that holds it, which is the product's name. */
  readonly product: string;
  readonly name: string;
  /** The public page or file that shows the message. */
  readonly source: string;
  /** The day on which the source was read. */
  readonly read: string;
  /** True: the source states the parts of the format, and the message was put together from them. */
  readonly composed?: boolean;
  /** What differs from the source. Secrets and licences became obvious dummies; only one crypto market is listed. */
  readonly changed?: readonly string[];
  /** The account of the relay that gets it; `main` (margin) if absent, else `spot`. */
  readonly account?: 'spot';
  /** The last price of BTC_USDT when it arrives; 60000 if absent. */
  readonly price?: string;
  /** What is held when it arrives, for example `long 0.5`; nothing if absent. */
  readonly position?: string;
  /** Orders of the owner that rest when it arrives. */
  readonly rests?: readonly string[];
  /** What TradingView fills in, by placeholder. `timenow` and `time` are filled with the time of the test. */
  readonly placeholders?: Readonly<Record<string, string>>;
  /** The text that is sent, before TradingView fills the placeholders. White space of JSON is shortened. */
  readonly message: string;
  /** What the product does with it, as effects at an exchange. Absent where the message alone does not tell. */
  readonly meaning?: readonly string[];
  /** Why the message alone does not tell what to do. */
  readonly untold?: string;
  readonly here: Handling;
  /** For a refusal with a reason: what its first issue says. */
  readonly says?: string;
  /** For a difference: the effects here, in place of those of the meaning. */
  readonly becomes?: readonly string[];
  /** For a difference: what it is; the documents state it. */
  readonly difference?: string;
}

/** What the relay does with a message. */
export type Handling =
  | 'accepted'
  | 'accepted with a difference'
  | 'refused with a message to paste'
  | 'refused with a reason';

const folder = join(import.meta.dirname, '../fixtures/messages');

/** Every message of the folder, by product. */
export function readFieldMessages(): readonly FieldMessage[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .flatMap((file) => {
      const rows = JSON.parse(readFileSync(join(folder, file), 'utf8')) as readonly FieldMessage[];
      return rows.map((row) => ({ ...row, product: file.slice(0, -'.json'.length) }));
    });
}

/**
 * The text as TradingView sends it.
 *
 * @throws RangeError for a placeholder without a value
 */
export function fillPlaceholders({ name, message, placeholders = {} }: FieldMessage, nowMs: number): string {
  const timenow = isoSeconds(nowMs);
  const values = { time: timenow, timenow, ...placeholders };
  return message.replace(/\{\{([\w.]+)\}\}/g, (_, placeholder: string) => {
    const value: string | undefined = Object.entries(values).find(([key]) => key === placeholder)?.[1];
    if (value === undefined) throw new RangeError(`${name}: {{${placeholder}}} has no value`);
    return value;
  });
}

/** The first JSON object or array that the issues of a refusal contain, as text; null if they contain none. */
export function findMessageToPaste({ body }: Posted): string | null {
  const texts = (body.error?.issues ?? []).flatMap(({ message, hint }) => [hint, message]);
  return texts.map(findJson).find((found) => found !== null) ?? null;
}

function findJson(text: string): string | null {
  for (const { index: start } of text.matchAll(/[[{]/g)) {
    for (const { index: end } of text.matchAll(/[\]}]/g)) {
      const part = text.slice(start, end + 1);
      if (end > start && isMessage(part)) return part;
    }
  }
  return null;
}

/** Whether a text is an alert message: JSON that names an action or a position. */
function isMessage(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
    return parts.every((part) => typeof part === 'object' && part !== null && 'ticker' in part);
  } catch {
    return false;
  }
}

/** As TradingView writes a time. */
function isoSeconds(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, -'.000Z'.length)}Z`;
}
