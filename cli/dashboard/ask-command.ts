import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { readJson } from '../../lib/base/json.ts';
import { attachSession } from '../command.ts';
import { CommandFailure } from '../failure.ts';
import type { Session } from '../session/session.ts';
import type { Terminal } from '../show/terminal.ts';

/** The options of one run of a command: a text, several, or a switch. Absent ones are left out. */
export type CommandOptions = Readonly<
  Record<string, string | number | readonly string[] | boolean | undefined>
>;

export interface AskedCommand {
  /** For example `positions`, or `interest fetch`. */
  readonly command: string;
  /** What comes without a name. */
  readonly args?: readonly string[];
  readonly options?: CommandOptions;
  /** What the command reads from its standard input. */
  readonly input?: string;
  readonly timeZone?: string;
}

/**
 * Runs a command of the tool in this process and returns its document, that of `--json`: so the page shows and does what the
 * command shows and does.
 *
 * @throws whatever the command throws, unless it printed its document before
 */
export async function askCommand(
  createProgram: (terminal: Terminal) => Command,
  session: Session,
  asked: AskedCommand,
): Promise<unknown> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const said = text(stdout);
  stderr.resume();
  const { timeZone = 'UTC', input = '' } = asked;
  const stdin = Readable.from([Buffer.from(input)]);
  const program = createProgram({ stdin, stdout, stderr, width: null, timeZone });
  attachSession(program, session);
  const failure = await program.parseAsync(argumentsOf(asked), { from: 'user' }).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  stdout.end();
  const document = readJson(await said);
  if (document !== undefined) return document;
  throw failure === null ? createSilent(asked.command) : failure.error;
}

/** A value is joined to its option, and what has no name comes last: no value can pass for another option. */
function argumentsOf({ command, args = [], options = {} }: AskedCommand): readonly string[] {
  const named = Object.entries(options).flatMap(([name, value]): readonly string[] => {
    if (value === undefined || value === false) return [];
    if (value === true) return [`--${name}`];
    const values = typeof value === 'object' ? value : [value];
    return values.map((each) => `--${name}=${each}`);
  });
  return [...command.split(' '), ...named, '--json', '--', ...args];
}

function createSilent(command: string): CommandFailure {
  return new CommandFailure('unexpected', `\`${command}\` printed nothing`, 'Run it in a terminal.');
}
