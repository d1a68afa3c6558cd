import { createInterface } from 'node:readline/promises';
import type { Terminal } from '../show/terminal.ts';

/** Asks a question that `y` or `yes` answers with yes, and everything else with no, the end of the input too. */
export async function askYes({ stdin, stderr }: Terminal, question: string): Promise<boolean> {
  const prompter = createInterface({ input: stdin, output: stderr });
  const ended = new AbortController();
  prompter.once('SIGINT', () => ended.abort());
  prompter.once('close', () => ended.abort());
  try {
    const answer = await prompter.question(`${question} [y/N] `, { signal: ended.signal });
    return /^y(es)?$/i.test(answer.trim());
  } catch {
    return false;
  } finally {
    prompter.close();
  }
}
