import type { Command } from 'commander';
import { describePauseKind, readPauses } from '../../lib/ledger/pauses.ts';
import { checkCertificate } from '../checks/certificate-checks.ts';
import { type Check, fail, pass, warn } from '../checks/check.ts';
import { checkExchange } from '../checks/exchange-checks.ts';
import { checkNotices } from '../checks/notice-checks.ts';
import { checkRehearsals } from '../checks/rehearsal-checks.ts';
import { type Context, runCommand } from '../command.ts';
import { CommandFailure } from '../failure.ts';
import type { Session } from '../session/session.ts';
import { renderChecks } from '../show/render-checks.ts';
import { renderTable } from '../show/table.ts';

export function addDoctorCommands(program: Command): void {
  program
    .command('doctor')
    .description('check the relay, its configuration and the exchange; changes nothing')
    .action((_options: object, command: Command) => runCommand(command, examine));
  program
    .command('redrive')
    .description(
      'put messages of the dead-letter queue, which failed repeatedly, back into the queue; correct the cause first',
    )
    .action((_options: object, command: Command) => runCommand(command, redrive));
}

async function examine({ session, terminal, print }: Context): Promise<void> {
  const checks = [
    ...(await session.diagnose()),
    ...(await checkCertificate(session)),
    ...(await checkExchange(session)),
    ...(await checkRehearsals(session)),
    ...(await checkSignals(session)),
    ...(await checkNotices(session)),
  ];
  const failed = checks.filter(({ verdict }) => verdict === 'fail');
  print({ healthy: failed.length === 0, checks }, () => renderChecks(checks, terminal));
  const stopped = failed.find(({ name }) => name === 'relay');
  if (stopped !== undefined)
    throw new CommandFailure(
      'unhealthy',
      `the relay is stopped${failed.length > 1 ? `, and ${failed.length - 1} more of ${checks.length} checks failed` : ''}`,
      stopped.advice ?? '',
    );
  if (failed.length > 0)
    throw new CommandFailure(
      'unhealthy',
      `${failed.length} of ${checks.length} checks failed: ${failed.map(({ name }) => name).join(', ')}`,
      'Do what the table says for each.',
    );
}

/** Counting stops here. */
const mostUnknown = 100;

async function checkSignals({ settings, ...session }: Session): Promise<readonly Check[]> {
  const ledger = session.openLedger();
  const { entries } = await ledger.list({ status: 'unknown', limit: mostUnknown });
  const outcomes =
    entries.length === 0
      ? pass('outcomes', 'all known')
      : fail(
          'outcomes',
          `${entries.length === mostUnknown ? 'at least ' : ''}${entries.length} unknown`,
          'List them with `npx relay signals --status unknown`, and settle each with `npx relay resolve ID`.',
        );
  const pauses = await readPauses(ledger, Object.keys(settings.accounts));
  const paused = pauses.map(({ account, kind }) => `${account} is paused: ${describePauseKind(kind)}`);
  return [
    outcomes,
    paused.length === 0
      ? pass('pauses', 'none')
      : warn('pauses', paused.join('; '), '`npx relay resume` ends a pause.'),
  ];
}

async function redrive({ session, terminal, printChange }: Context): Promise<void> {
  const redriven = await session.openDeadLetters().redrive();
  printChange({ redriven: redriven.map(({ group, body }) => ({ group, body })) }, () =>
    redriven.length === 0
      ? 'The dead-letter queue is empty.'
      : `${renderTable(
          [{ title: 'group' }, { title: 'message', wraps: true }],
          redriven.map(({ group, body }) => [group, body]),
          terminal,
        )}\n\nThey are in the queue again, in this order. A signal that is too old to be sent ends as denied.`,
  );
}
