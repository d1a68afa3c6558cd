import type { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';

/** What people see of a run: how wide it is, and in which time zone they live. */
export interface Screen {
  /** Characters of a line; null where lines have no end, as in a file or a pipe. */
  readonly width: number | null;
  /** IANA name of the time zone in which people are shown times. */
  readonly timeZone: string;
}

/** What a run of the tool reads from and writes to. */
export interface Terminal extends Screen {
  /** Set when a person types. */
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** Where this process was started. `COLUMNS`, if it is exported, goes before the width that the terminal tells. */
export function openProcessTerminal(): Terminal {
  const { stdout, stderr } = process;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return {
    // Opened by those who read it only: where it is broken all others work.
    get stdin() {
      return process.stdin;
    },
    stdout,
    stderr,
    width: readWidth(process.env['COLUMNS'], stdout.columns),
    timeZone,
  };
}

/** @param columns as the environment says it */
export function readWidth(columns: string | undefined, ownWidth: number | undefined): number | null {
  const said = /^[1-9]\d{0,3}$/.test(columns ?? '') ? Number(columns) : undefined;
  // A terminal that does not know its width tells 0.
  return said ?? (ownWidth === 0 ? null : (ownWidth ?? null));
}

const terminals = new WeakMap<Command, Terminal>();

/** Lets the commands of a program find where they are run. */
export function attachTerminal(program: Command, terminal: Terminal): void {
  terminals.set(program, terminal);
}

/** Where the program that a command belongs to is run. */
export function terminalOf(command: Command): Terminal {
  let program = command;
  while (program.parent !== null) program = program.parent;
  const terminal = terminals.get(program);
  if (terminal === undefined) throw new TypeError('the program has no terminal');
  return terminal;
}
