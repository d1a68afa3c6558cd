import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Terminal } from '../show/terminal.ts';

/** Asks one question after another in a terminal. */
export interface Prompter {
  /** @returns the answer, without spaces around it; undefined when the person gave up */
  ask(question: string): Promise<string | undefined>;
  close(): void;
}

/** @param isHidden whether what is typed is not shown */
export function openPrompter({ stdin, stderr }: Terminal, isHidden: boolean): Prompter {
  // The output of a hidden prompt is discarded.
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompter = createInterface({ input: stdin, output: isHidden ? silence : stderr, terminal: true });
  const answer = answering(prompter);
  return {
    async ask(question) {
      if (isHidden) stderr.write(`${question}: `);
      try {
        return await answer(isHidden ? '' : `${question}: `);
      } finally {
        if (isHidden) stderr.write('\n');
      }
    },
    close: () => prompter.close(),
  };
}

/** @returns the function that asks; its answer has no spaces around it, and is undefined when the person gave up */
export function answering(prompter: Interface): (question: string) => Promise<string | undefined> {
  const interrupted = new AbortController();
  prompter.once('SIGINT', () => interrupted.abort());
  prompter.once('close', () => interrupted.abort());
  return async (question) => {
    try {
      return (await prompter.question(question, { signal: interrupted.signal })).trim();
    } catch {
      return undefined;
    }
  };
}

/**
 * Asks one question after another, and does not show what is typed: an argument would stay in the shell's history and be
 * visible in the list of processes.
 *
 * @returns the answers; undefined when the person gave up
 */
export async function askHidden(
  terminal: Terminal,
  questions: readonly string[],
): Promise<readonly string[] | undefined> {
  const prompter = openPrompter(terminal, true);
  const answers: string[] = [];
  try {
    for (const question of questions) {
      const answer = await prompter.ask(question);
      if (answer === undefined) return undefined;
      answers.push(answer);
    }
    return answers;
  } finally {
    prompter.close();
  }
}
