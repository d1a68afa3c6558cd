import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Terminal } from '../show/terminal.ts';

/**
 * Asks one question after another, and does not show what is typed: an argument would stay in the shell's history and be
 * visible in the list of processes.
 *
 * @returns the answers, without spaces around them; undefined when the person gave up
 */
export async function askHidden(
  { stdin, stderr }: Terminal,
  questions: readonly string[],
): Promise<readonly string[] | undefined> {
  // The prompt's output is discarded, so that the typed text is not shown.
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompter = createInterface({ input: stdin, output: silence, terminal: true });
  const interrupted = new AbortController();
  prompter.once('SIGINT', () => interrupted.abort());
  prompter.once('close', () => interrupted.abort());
  const answers: string[] = [];
  try {
    for (const question of questions) {
      stderr.write(`${question}: `);
      const answer = await prompter.question('', { signal: interrupted.signal }).finally(() => {
        stderr.write('\n');
      });
      answers.push(answer.trim());
    }
    return answers;
  } catch {
    return undefined;
  } finally {
    prompter.close();
  }
}
