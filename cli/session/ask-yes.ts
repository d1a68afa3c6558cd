import { createInterface } from 'node:readline/promises';
import type { Terminal } from '../show/terminal.ts';
import { answering } from './ask-hidden.ts';

/** Asks a question that `y` or `yes` answers with yes, and everything else with no, the end of the input too. */
export async function askYes({ stdin, stderr }: Terminal, question: string): Promise<boolean> {
  const prompter = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(es)?$/i.test((await answering(prompter)(`${question} [y/N] `)) ?? '');
  } finally {
    prompter.close();
  }
}
