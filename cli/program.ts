import { Command, CommanderError, Option } from 'commander';
import { findSwallowedOptions } from '../lib/host/swallowed-options.ts';
import { readVersion } from '../lib/host/version.ts';
import { addBalanceCommands } from './commands/balances.ts';
import { addCancelCommand } from './commands/cancel.ts';
import { addDoctorCommands } from './commands/doctor.ts';
import { addExchangeCommands } from './commands/exchange.ts';
import { addExportCommands } from './commands/export.ts';
import { addFeeCommands } from './commands/fees.ts';
import { addInterestCommands } from './commands/interest.ts';
import { addOrdersCommand } from './commands/orders.ts';
import { addPaperCommands } from './commands/paper.ts';
import { addPauseCommands } from './commands/pause.ts';
import { addResolveCommands } from './commands/resolve.ts';
import { addSecretCommands } from './commands/secrets.ts';
import { addSignalCommand } from './commands/signal.ts';
import { addSignalsCommand } from './commands/signals.ts';
import { addWebhookCommands } from './commands/webhook.ts';
import { createUsageFailure, reportFailure } from './failure.ts';
import { renderFailure } from './print.ts';
import { attachTerminal, type Terminal } from './terminal.ts';
import { fitLines } from './wrap-text.ts';

/**
 * Runs one command and tells its failure, if it fails.
 *
 * @param argv as a process gets it: the program, the script, then what was typed
 * @returns the exit status: 0, 1 for a failure, 2 for a command that was given wrongly
 */
export async function runProgram(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const relay = createProgram(terminal);
    refuseSwallowed(relay, argv.slice(2));
    await relay.parseAsync(argv);
    return 0;
  } catch (error) {
    return logFailure(error, argv, terminal);
  }
}

/**
 * Without its options a command would do something else than it was told, and perhaps to another relay.
 *
 * @throws CommandFailure (usage)
 */
function refuseSwallowed(relay: Command, args: readonly string[]): void {
  const swallowed = findSwallowedOptions(process.env, 'relay', listOptions(relay), args);
  if (swallowed === null) return;
  const line = `relay -- ${swallowed.rightArguments}`;
  throw createUsageFailure(
    `npm took ${swallowed.options} for itself, and nothing was done`,
    `Write \`npx relay ${swallowed.rightArguments}\`, or with \`--\` before the command: \`npm run -s ${line}\`.`,
  );
}

const usualHelpWidth = 80;

/** Of the command and of all below it. */
function listOptions({ options, commands }: Command): readonly Option[] {
  return [...options, ...commands.flatMap(listOptions)];
}

function createProgram(terminal: Terminal): Command {
  const relay = new Command('relay')
    .usage('<command> [options]')
    .description('Looks after a relay: one that was started with `npm start`, or one on AWS (--stack).')
    .option('--json', 'one JSON document on standard output, for programs')
    .option('--data <folder>', 'where a local relay keeps everything', '.relay')
    .addOption(new Option('--stack <name>', 'a relay on AWS: the stack it was deployed as').conflicts('data'))
    .option('--region <region>', 'where the stack is (default: as AWS_REGION or the profile says)')
    .option('--config <file>', 'the configuration it was deployed with (default: relay.config.ts)')
    .helpOption('-h, --help', 'show how a command is used')
    .helpCommand('help [command]', 'show how a command is used')
    .version(readVersion(), '-V, --version', 'show the release')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
      // Every failure is told in one place and one form.
      outputError: () => undefined,
      getOutHelpWidth: () => terminal.width ?? usualHelpWidth,
      getErrHelpWidth: () => terminal.width ?? usualHelpWidth,
    });
  attachTerminal(relay, terminal);
  relay.commandsGroup('Alerts and signals:');
  addWebhookCommands(relay);
  addSignalsCommand(relay);
  addSignalCommand(relay);
  addResolveCommands(relay);
  addPauseCommands(relay);
  relay.commandsGroup('Looking after it:');
  addDoctorCommands(relay);
  addSecretCommands(relay);
  relay.commandsGroup('What you hold, what it costs, what it earned:');
  addBalanceCommands(relay);
  addFeeCommands(relay);
  addInterestCommands(relay);
  addExportCommands(relay);
  relay.commandsGroup('The exchange:');
  addExchangeCommands(relay);
  addOrdersCommand(relay);
  addCancelCommand(relay);
  relay.commandsGroup('The paper exchange:');
  addPaperCommands(relay);
  return relay;
}

function logFailure(error: unknown, argv: readonly string[], terminal: Terminal): number {
  // Help or release were asked for and shown; help shown for want of a command is a mistake.
  if (error instanceof CommanderError && /^commander\.(help|version)/.test(error.code))
    return error.exitCode === 0 ? 0 : 2;
  const report = reportFailure(error);
  // A mistaken command may end the parsing before the option is read.
  const isJson = argv.includes('--json');
  const text = renderFailure(report, isJson);
  terminal.stderr.write(isJson ? text : fitLines(text, terminal.width));
  return report.exitStatus;
}
