import { type Command, InvalidArgumentError } from 'commander';
import { openSession, type SessionOptions } from './open-session.ts';
import type { Session } from './session.ts';

/** What a command is given to do its work. */
export interface Context {
  readonly session: Session;
  /** Whether a program reads what is printed. */
  readonly isJson: boolean;
  /** Shows the result: the document to programs (`--json`), the text to people. */
  print(document: unknown, text: () => string): void;
}

/** The options that every command takes. */
export interface GlobalOptions extends SessionOptions {
  readonly json?: boolean;
}

/** Opens what the command needs, runs it, and lets go of everything however it ends. */
export async function runCommand(
  command: Command,
  story: (context: Context) => Promise<void>,
): Promise<void> {
  const { json, ...options } = command.optsWithGlobals<GlobalOptions>();
  const session = await openSession(options);
  try {
    await story({
      session,
      isJson: json === true,
      print: (document, text) => {
        process.stdout.write(`${json === true ? JSON.stringify(document) : text()}\n`);
      },
    });
  } finally {
    session.close();
  }
}

/** Reads an option that is a whole number within bounds. */
export function readCount(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (!/^\d+$/.test(text) || count < least || count > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    return count;
  };
}
