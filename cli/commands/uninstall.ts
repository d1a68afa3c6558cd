import type { Command } from 'commander';
import { type Context, runCommand } from '../command.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import { type LeftBehind, mayBeOpen, readLeftBehind } from '../read/left-behind.ts';
import { askYes } from '../session/ask-yes.ts';
import type { InstalledPart } from '../session/installed-parts.ts';
import { commandFor, describeTarget, type Target } from '../session/session.ts';
import { paint } from '../show/print.ts';

interface UninstallOptions {
  readonly delete?: boolean;
  readonly yes?: boolean;
}

export function addUninstallCommand(program: Command): void {
  program
    .command('uninstall')
    .description(
      'say what is left of this relay when it is removed: open orders and positions at the exchange first, then files, tables and secrets, with the command that removes each',
    )
    .option('--delete', 'delete the files of a local relay that is stopped, after a question')
    .option('--yes', 'delete without the question')
    .action((options: UninstallOptions, command: Command) =>
      runCommand(command, (context) => uninstall(context, options)),
    );
}

async function uninstall(context: Context, options: UninstallOptions): Promise<void> {
  const { session, print } = context;
  const { target } = session;
  if (options.delete === true && target.kind === 'stack') await session.deleteFolder();
  const open = await readLeftBehind(session);
  const parts = await session.listParts();
  const text = () => [renderOpen(open, target), renderParts(parts, target)].join('\n\n');
  if (options.delete !== true) {
    print({ target, open, parts, deleted: [] }, text);
    return;
  }
  refuseOpen(open, target);
  if (!(await isConfirmed(context, options, text))) {
    print({ target, open, parts, deleted: [] }, () => 'Nothing was deleted.');
    return;
  }
  const deleted = await session.deleteFolder();
  print({ target, open, parts, deleted }, () =>
    ['Deleted:', ...deleted.map((path) => `  ${path}`), '', renderStays(parts)].join('\n'),
  );
}

/** Without its ledger, nobody knows any more which orders at the exchange were the relay's. */
function refuseOpen(open: readonly LeftBehind[], target: Target): void {
  const left = open.filter(mayBeOpen);
  if (target.trades !== 'live' || left.length === 0) return;
  throw new CommandFailure(
    'still_open',
    `orders or positions are open, or may be, in ${left.map(({ account }) => account).join(', ')}; nothing was deleted`,
    `\`${commandFor(target, 'uninstall')}\` shows them. Close and cancel them, with \`${commandFor(target, 'close-all')}\` or on the website of the exchange.`,
  );
}

async function isConfirmed(
  { terminal, isJson }: Context,
  { yes }: UninstallOptions,
  text: () => string,
): Promise<boolean> {
  if (yes === true) return true;
  if (isJson)
    throw createUsageFailure(
      '--delete asks a question',
      'Add --yes, or leave out --json; nothing was deleted.',
    );
  terminal.stderr.write(`${text()}\n\n`);
  return await askYes(terminal, 'Delete the files of the data folder? The ledger cannot be made again.');
}

function renderOpen(open: readonly LeftBehind[], target: Target): string {
  const isReal = target.kind === 'stack' ? target.trades !== 'paper' : target.trades === 'live';
  const lines = open.flatMap(({ account, orders, positions, reason }) => [
    ...(reason === null ? [] : [`  ${account}: COULD NOT BE READ: ${reason}`]),
    ...(positions ?? []).map((position) => `  ${account}: position of ${position}`),
    ...(orders ?? []).map((order) => `  ${account}: ${order}`),
  ]);
  if (lines.length === 0) return paint({ text: 'Nothing is open at the exchange.', style: 'strong' });
  return [
    paint({
      text: isReal
        ? 'OPEN AT THE EXCHANGE. Removing the relay closes none of it, and nobody looks after it then:'
        : 'Open at the paper exchange, which goes with the relay:',
      style: isReal ? 'alarm' : 'strong',
    }),
    ...lines,
    ...(isReal ? [`Close it first: \`${commandFor(target, 'close-all')}\`, \`cancel\`.`] : []),
  ].join('\n');
}

function renderParts(parts: readonly InstalledPart[], target: Target): string {
  const going = parts.filter(({ goesWithStack }) => goesWithStack);
  return [
    `What there is of the ${describeTarget(target)}:`,
    ...(going.length === 0 ? [] : ['', 'Goes with the stack:', ...going.flatMap(renderPart)]),
    '',
    renderStays(parts),
    '',
    target.kind === 'local'
      ? `Nothing was deleted. \`${commandFor(target, 'uninstall')} --delete\` deletes the files, once the relay is stopped.`
      : 'Nothing was deleted.',
  ].join('\n');
}

function renderStays(parts: readonly InstalledPart[]): string {
  const staying = parts.filter(({ goesWithStack }) => !goesWithStack);
  return ['Stays until you remove it:', ...staying.flatMap(renderPart)].join('\n');
}

function renderPart({ what, where, remove }: InstalledPart): readonly string[] {
  return [`  ${where}: ${what}`, ...(remove === null ? [] : [`    ${remove}`])];
}
