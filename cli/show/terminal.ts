import type { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';

/** The width and the time zone of the user's terminal. */
export interface Screen {
  /** Characters of a line; null: unlimited, as in a file or a pipe. */
  readonly width: number | null;
  /** IANA name of the time zone in which times are shown. */
  readonly timeZone: string;
}

/** The streams of a command. */
export interface Terminal extends Screen {
  /** `isTTY` is set when the input is typed in a terminal. */
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** The terminal of this process. An exported `COLUMNS` overrides the width that the terminal reports. */
export function openProcessTerminal(): Terminal {
  const { stdout, stderr } = process;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return {
    // Opened only by commands that read it, so that a broken standard input does not affect others.
    get stdin() {
      return process.stdin;
    },
    stdout,
    stderr,
    width: readWidth(process.env['COLUMNS'], stdout.columns),
    timeZone,
  };
}

/** @param columns value of the environment variable `COLUMNS` */
export function readWidth(columns: string | undefined, ownWidth: number | undefined): number | null {
  const said = /^[1-9]\d{0,3}$/.test(columns ?? '') ? Number(columns) : undefined;
  // A terminal that does not know its width reports 0.
  return said ?? (ownWidth === 0 ? null : (ownWidth ?? null));
}

const terminals = new WeakMap<Command, Terminal>();

/** Attaches a terminal to a program, for `terminalOf`. */
export function attachTerminal(program: Command, terminal: Terminal): void {
  terminals.set(program, terminal);
}

/** The program to which a command belongs. */
export function programOf(command: Command): Command {
  let program = command;
  while (program.parent !== null) program = program.parent;
  return program;
}

/** The terminal of the program to which a command belongs. */
export function terminalOf(command: Command): Terminal {
  const terminal = terminals.get(programOf(command));
  if (terminal === undefined) throw new TypeError('the program has no terminal');
  return terminal;
}
