import type { Json } from './json.ts';

/** Where the relay says what it does: one line per event, facts beside the message. Never a secret, never a raw body. */
export interface Log {
  info(message: string, facts: LogFacts): void;
  warn(message: string, facts: LogFacts): void;
  error(message: string, facts: LogFacts): void;
}

export type LogFacts = Readonly<Record<string, Json>>;
