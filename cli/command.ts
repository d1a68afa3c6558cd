import { type Command, InvalidArgumentError } from 'commander';
import { escapeText } from '../lib/signals/issues.ts';
import { createUsageFailure } from './failure.ts';
import { openSession, type SessionOptions } from './session/open-session.ts';
import { describeTarget, type Session, type Target } from './session/session.ts';
import { type Cell, paint } from './show/print.ts';
import { programOf, type Terminal, terminalOf } from './show/terminal.ts';
import { fitLines } from './show/wrap-text.ts';

/** What a command works with. */
export interface Context {
  readonly session: Session;
  readonly terminal: Terminal;
  /** Whether `--json` was given. */
  readonly isJson: boolean;
  /**
   * Prints the result: the document with `--json`, otherwise the text, wrapped to the width of the terminal.
   */
  print(document: unknown, text: () => string): void;
  /** Like `print`, for a command that changes something: it also names the relay that was changed. */
  printChange(document: object, text: () => string): void;
}

/** The options of every command. */
export interface GlobalOptions extends SessionOptions {
  readonly json?: boolean;
}

const sessions = new WeakMap<Command, Session>();

/** Gives a program a session that is open already. Its commands use it, whatever their options say, and leave it open. */
export function attachSession(program: Command, session: Session): void {
  sessions.set(program, session);
}

/** Opens a session, runs the command in it, and always closes the session. */
export async function runCommand(command: Command, run: (context: Context) => Promise<void>): Promise<void> {
  const { json, ...options } = command.optsWithGlobals<GlobalOptions>();
  const terminal = terminalOf(command);
  const attached = sessions.get(programOf(command));
  const session = attached ?? (await openSession(options, terminal));
  const { target } = session;
  const isJson = json === true;
  const print: Context['print'] = (document, text) => {
    terminal.stdout.write(`${isJson ? JSON.stringify(document) : fitLines(text(), terminal.width)}\n`);
  };
  const head = listHead(target);
  try {
    await run({
      session,
      terminal,
      isJson,
      print: (document, text) => print(document, () => [...head, text()].join('\n')),
      printChange: (document, text) =>
        print({ target: session.target, ...document }, () => `${paint(headOf(session.target))}\n${text()}`),
    });
  } finally {
    if (attached === undefined) session.close();
  }
}

/** What a live relay shows must never be taken for play money, and what a stack on paper shows never for real money. */
function listHead(target: Target): readonly string[] {
  if (target.trades === undefined) return [];
  return [paint({ text: describeTarget(target), style: target.trades === 'live' ? 'alarm' : 'strong' })];
}

function headOf(target: Target): Cell {
  return { text: describeTarget(target), style: 'strong' };
}

/**
 * The options of a subcommand whose parent is a command too. The parser assigns options that both know to the
 * parent.
 *
 * @throws CommandFailure (usage) when an option of the parent was given that the subcommand does not have
 */
export function takeOptions<Options extends object>(command: Command, parent: Command): Options {
  const own = new Set(command.options.map((option) => option.attributeName()));
  const strange = parent.options.find(
    (option) =>
      parent.getOptionValueSource(option.attributeName()) === 'cli' && !own.has(option.attributeName()),
  );
  if (strange !== undefined)
    throw createUsageFailure(
      `\`${parent.name()} ${command.name()}\` has no option ${strange.long}`,
      'Add --help to the command to see how it is used.',
    );
  return { ...parent.opts<Options>(), ...command.opts<Options>() };
}

/** Gives a command the account as its argument, and as `--account`, which other commands have. */
export function addAccountArgument(command: Command, description: string): Command {
  return command
    .argument('[account]', description)
    .option('--account <name>', 'the same as the argument: which account');
}

/**
 * The account that the argument or `--account` names; undefined: neither does.
 *
 * @throws CommandFailure (usage) when they name two
 */
export function namedAccount(argument: string | undefined, command: Command): string | undefined {
  const { account } = command.opts<{ readonly account?: string }>();
  if (argument !== undefined && account !== undefined && argument !== account)
    throw createUsageFailure(
      `two accounts are named: "${argument}" and, with --account, "${account}"`,
      'Name one of them.',
    );
  return argument ?? account;
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

const longestText = 200;

/**
 * Reads a text that is stored and shown. It is trimmed, and its control characters are escaped.
 *
 * @param what name of the text in the failure
 * @throws CommandFailure (usage) when it is empty or too long
 */
export function readShortText(what: string, text: string): string {
  const clean = escapeText(text.trim());
  if (clean === '' || clean.length > longestText)
    throw createUsageFailure(`${what} is empty or too long`, `Give 1 to ${longestText} characters.`);
  return clean;
}
