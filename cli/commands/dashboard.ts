import { once } from 'node:events';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Context, runCommand } from '../command.ts';
import { startDashboard } from '../dashboard/start-dashboard.ts';
import { CommandFailure } from '../failure.ts';
import { describeTarget } from '../session/session.ts';
import type { Terminal } from '../show/terminal.ts';
import { isSystemError } from '../system-error.ts';

interface DashboardOptions {
  readonly port: number;
  readonly readOnly?: true;
  readonly host: readonly string[];
}

const usualPort = 8071;

/** @param createProgram makes the program with all commands, which the page runs */
export function addDashboardCommand(program: Command, createProgram: (terminal: Terminal) => Command): void {
  program
    .command('dashboard')
    .description(
      "serve the operator's page on this machine until Ctrl-C: signals, orders, positions, money, prices, health, and a builder of alerts",
    )
    .addOption(
      new Option('--port <number>', 'port on the loopback address; 0 takes any free one')
        .argParser(readPort)
        .default(usualPort),
    )
    .option('--read-only', 'show everything and change nothing, for a screen on the wall')
    .option(
      '--host <name>',
      'another name under which a tunnel of your own reaches the page, for example relay.example.ts.net',
      (name: string, earlier: readonly string[]) => [...earlier, readHost(name)],
      [],
    )
    .action((options: DashboardOptions, command: Command) =>
      runCommand(command, (context) => serve(context, options, createProgram)),
    );
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('A port is a whole number from 0 (any free one) to 65535.');
  return port;
}

function readHost(text: string): string {
  if (!/^[a-z0-9.-]+(?::\d{1,5})?$/i.test(text))
    throw new InvalidArgumentError('It is the name of a host, with its port unless it is the usual one.');
  return text;
}

async function serve(
  { session, print }: Context,
  { port, readOnly, host: hosts }: DashboardOptions,
  createProgram: (terminal: Terminal) => Command,
): Promise<void> {
  // A wrong folder is told now, and not by an empty page.
  session.openLedger();
  const isReadOnly = readOnly === true;
  const server = await startDashboard({ session, createProgram, port, isReadOnly, hosts }).catch(
    (error: unknown) => {
      throw isSystemError(error) && error.code === 'EADDRINUSE' ? createTaken(port) : error;
    },
  );
  try {
    const { url, entryUrl } = server;
    print({ target: session.target, url, entryUrl, readOnly: isReadOnly }, () =>
      [
        `The page of the ${describeTarget(session.target)}${isReadOnly ? ', which changes nothing' : ''}:`,
        '',
        `  ${entryUrl}`,
        '',
        'Whoever has this URL can use it until Ctrl-C. Other machines cannot reach it.',
      ].join('\n'),
    );
    await untilStopped();
  } finally {
    await server.close();
  }
}

async function untilStopped(): Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const ends = [once(process, 'SIGINT', { signal }), once(process, 'SIGTERM', { signal })];
  await Promise.race(ends);
  stopping.abort();
  await Promise.allSettled(ends);
}

function createTaken(port: number): CommandFailure {
  return new CommandFailure(
    'port_taken',
    `port ${port} is already in use`,
    'Name another one with --port, or 0 for any free one.',
  );
}
