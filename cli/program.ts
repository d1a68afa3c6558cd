import { Command, CommanderError, Option } from 'commander';
import { findSwallowedOptions } from '../lib/host/swallowed-options.ts';
import { readVersion } from '../lib/host/version.ts';
import { addBackupCommands } from './commands/backup.ts';
import { addBalanceCommands } from './commands/balances.ts';
import { addCancelCommand } from './commands/cancel.ts';
import { addCloseCommand } from './commands/close.ts';
import { addCloseAllCommand } from './commands/close-all.ts';
import { addDashboardCommand } from './commands/dashboard.ts';
import { addDoctorCommands } from './commands/doctor.ts';
import { addExchangeCommands } from './commands/exchange.ts';
import { addExportCommands } from './commands/export.ts';
import { addFeeCommands } from './commands/fees.ts';
import { addInitCommand } from './commands/init.ts';
import { addInterestCommands } from './commands/interest.ts';
import { addLimitsCommand } from './commands/limits.ts';
import { addNotifyCommands } from './commands/notify.ts';
import { addOrdersCommand } from './commands/orders.ts';
import { addPaperCommands } from './commands/paper.ts';
import { addPauseCommands } from './commands/pause.ts';
import { addPositionsCommand } from './commands/positions.ts';
import { addProtectCommand } from './commands/protect.ts';
import { addRegionsCommand } from './commands/regions.ts';
import { addRehearseCommand } from './commands/rehearse.ts';
import { addReportCommand } from './commands/report.ts';
import { addResolveCommands } from './commands/resolve.ts';
import { addSecretCommands } from './commands/secrets.ts';
import { addSignalCommand } from './commands/signal.ts';
import { addSignalsCommand } from './commands/signals.ts';
import { addTranslateCommand } from './commands/translate.ts';
import { addUninstallCommand } from './commands/uninstall.ts';
import { addWebhookCommands } from './commands/webhook.ts';
import { createUsageFailure, reportFailure } from './failure.ts';
import { renderFailure } from './show/print.ts';
import { attachTerminal, type Terminal } from './show/terminal.ts';
import { fitLines } from './show/wrap-text.ts';

/**
 * Runs one command and prints its failure, if it fails.
 *
 * @param argv like `process.argv`: the program, the script, then the arguments
 * @returns the exit status: 0, 1 for a failure, 2 for a wrong command line
 */
export async function runProgram(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const relay = createProgram(terminal);
    refuseSwallowed(relay, argv.slice(2));
    refuseUnknownHelp(relay, argv.slice(2));
    await relay.parseAsync(argv);
    return 0;
  } catch (error) {
    return printFailure(error, argv, terminal);
  }
}

/**
 * Refuses to run if npm took some of the options: without them, the command would do something else, perhaps
 * to another relay.
 *
 * @throws CommandFailure (usage)
 */
function refuseSwallowed(relay: Command, args: readonly string[]): void {
  const options = listOptions(relay).filter(({ long }) => long !== optionOfNpx);
  const swallowed = findSwallowedOptions(process.env, 'relay', options, args);
  if (swallowed === null) return;
  const line = `relay -- ${swallowed.rightArguments}`;
  throw createUsageFailure(
    `npm took ${swallowed.options} for itself, and nothing was done`,
    `Write \`npx relay ${swallowed.rightArguments}\`, or with \`--\` before the command: \`npm run -s ${line}\`.`,
  );
}

/**
 * The parser would answer with the help of all commands.
 *
 * @throws CommandFailure (usage)
 */
function refuseUnknownHelp({ commands }: Command, [help, name]: readonly string[]): void {
  if (help !== 'help' || name === undefined || name === 'help' || name.startsWith('-')) return;
  if (commands.some((command) => command.name() === name)) return;
  throw createUsageFailure(`unknown command '${name}'`, '`npx relay help` lists all commands.');
}

/** npx has it for itself, and always sets its variable. A command that lacks it only asks more. */
const optionOfNpx = '--yes';

const usualHelpWidth = 80;
/** Beside long names of commands a narrow column of text is still easier to read than lines that the terminal breaks. */
const leastDescriptionWidth = 20;

/** The options of the command and of all its subcommands. */
function listOptions({ options, commands }: Command): readonly Option[] {
  return [...options, ...commands.flatMap(listOptions)];
}

/** All commands, on a terminal. */
export function createProgram(terminal: Terminal): Command {
  const relay = new Command('relay')
    .usage('<command> [options]')
    .description('Operates a relay: one that was started with `npm start`, or one on AWS (--stack).')
    .option('--json', 'print one JSON document, for programs')
    .option(
      '--data <folder>',
      'data folder of a local relay; the variable RELAY_DATA names it, too',
      readSetting('RELAY_DATA') ?? '.relay',
    )
    .addOption(new Option('--stack <name>', 'a relay on AWS: the name of its stack').conflicts('data'))
    .option('--region <region>', 'AWS region of the stack (default: from AWS_REGION or the profile)')
    .option(
      '--config <file>',
      'configuration of the relay; the variable RELAY_CONFIG names it, too (default: relay.config.ts)',
      readSetting('RELAY_CONFIG'),
    )
    .helpOption('-h, --help', 'show how a command is used')
    .helpCommand('help [command]', 'show how a command is used')
    .configureHelp({ minWidthToWrap: leastDescriptionWidth })
    .version(readVersion(), '-V, --version', 'show the release')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
      // printFailure prints all failures in one form.
      outputError: () => undefined,
      getOutHelpWidth: () => terminal.width ?? usualHelpWidth,
      getErrHelpWidth: () => terminal.width ?? usualHelpWidth,
    });
  attachTerminal(relay, terminal);
  relay.commandsGroup('Alerts and signals:');
  addWebhookCommands(relay);
  addTranslateCommand(relay);
  addSignalsCommand(relay);
  addSignalCommand(relay);
  addReportCommand(relay);
  addResolveCommands(relay);
  addPauseCommands(relay);
  addCloseCommand(relay);
  addCloseAllCommand(relay);
  addProtectCommand(relay);
  relay.commandsGroup('Operation:');
  addInitCommand(relay);
  addDashboardCommand(relay, createProgram);
  addDoctorCommands(relay);
  addSecretCommands(relay);
  addBackupCommands(relay);
  addNotifyCommands(relay);
  addRehearseCommand(relay);
  addUninstallCommand(relay);
  relay.commandsGroup('Balances, fees and interest:');
  addBalanceCommands(relay);
  addFeeCommands(relay);
  addInterestCommands(relay);
  addExportCommands(relay);
  relay.commandsGroup('The exchange:');
  addExchangeCommands(relay);
  addRegionsCommand(relay);
  addOrdersCommand(relay);
  addPositionsCommand(relay);
  addLimitsCommand(relay);
  addCancelCommand(relay);
  relay.commandsGroup('The paper exchange:');
  addPaperCommands(relay);
  return relay;
}

/** What the environment of a service or a container says; undefined: nothing. Options of the command line go first. */
function readSetting(name: string): string | undefined {
  const value = process.env[name] ?? '';
  return value === '' ? undefined : value;
}

function printFailure(error: unknown, argv: readonly string[], terminal: Terminal): number {
  // `--help` and `--version` succeed. Help that is printed because no command was given is a failure.
  if (error instanceof CommanderError && /^commander\.(help|version)/.test(error.code))
    return error.exitCode === 0 ? 0 : 2;
  const report = reportFailure(error);
  // After a wrong command line, the parser may not have read this option.
  const isJson = argv.includes('--json');
  const text = renderFailure(report, isJson);
  terminal.stderr.write(isJson ? text : fitLines(text, terminal.width));
  return report.exitStatus;
}
