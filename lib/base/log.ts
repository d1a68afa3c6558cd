import type { Json } from './json.ts';

/** The relay's log: one line per event, with a message and facts. It never holds a secret or a raw body. */
export interface Log {
  info(message: string, facts: LogFacts): void;
  warn(message: string, facts: LogFacts): void;
  error(message: string, facts: LogFacts): void;
}

export type LogFacts = Readonly<Record<string, Json>>;
