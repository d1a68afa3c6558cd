import type { Command } from 'commander';
import type { Credentials } from '../../lib/exchange/client.ts';
import type { Account } from '../../lib/model/account.ts';
import { describePaperKey, explainPaperRefusal } from '../../lib/paper/engine/accounts.ts';
import { type Context, readCount, runCommand } from '../command.ts';
import { CommandFailure } from '../failure.ts';
import { readKeys } from '../session/read-keys.ts';
import { chooseAccount, commandFor, describeExchange, type ExchangeLocation } from '../session/session.ts';
import { formatSecond, renderFields } from '../show/print.ts';

const longestGraceHours = 24 * 30;
const msPerHour = 3_600_000;

export function addSecretCommands(program: Command): void {
  const keys = program
    .command('keys')
    .description('manage the exchange keys of the accounts')
    .helpCommand(false);
  keys
    .command('set')
    .description('store an exchange key, from a prompt or from standard input')
    .argument('<account>', 'account of the key')
    .action((account: string, _options: object, command: Command) =>
      runCommand(command, (context) => setKeys(context, account)),
    );
  const token = program
    .command('token')
    .description('manage the tokens in the webhook URLs')
    .helpCommand(false);
  token
    .command('rotate')
    .description('create a new webhook URL; the old one still works for a while')
    .argument('<account>', 'account of the URL')
    .option('--grace <hours>', 'how long the old URL still works', readCount(0, longestGraceHours), 24)
    .action((account: string, options: { grace: number }, command: Command) =>
      runCommand(command, (context) => rotateToken(context, account, options.grace)),
    );
}

async function setKeys({ session, isJson, terminal, printChange }: Context, name: string): Promise<void> {
  const account = chooseAccount(session.settings, name);
  const location = session.locateExchange();
  if (session.target.trades === 'paper') throw createOwnKeys(session.relayName);
  // Printed before the prompt, so that the operator knows where the key will be used.
  if (!isJson) terminal.stderr.write(`${describeKeyUse(account, location)}\n`);
  const keys = await readKeys(terminal);
  if (location.kind === 'paper') refuseOnPaper(account, keys);
  await session.storeKeys(account, keys);
  printChange(
    { account: account.name, stored: true, exchange: { url: location.url, kind: location.kind } },
    () =>
      `The exchange key of ${account.name} is stored; \`doctor\` checks whether the exchange accepts it.\n${session.changeHint}`,
  );
}

/**
 * Otherwise the first order would be the one to find out.
 *
 * @throws CommandFailure `paper_refused` for a key that the paper exchange would refuse; it never quotes the key
 */
function refuseOnPaper({ name }: Account, keys: Credentials): void {
  const reason = explainPaperRefusal(keys);
  if (reason !== null)
    throw new CommandFailure(
      'paper_refused',
      `the paper exchange would refuse this key: ${reason}; nothing was stored`,
      `Its key for account ${name} is ${describePaperKey(name)}. A key of the real exchange belongs to a relay that trades there: add --stack, or the --data of one started with \`--live\`.`,
    );
}

/** A key of the real exchange has no place in a paper stage. */
function createOwnKeys(relayName: string): CommandFailure {
  return new CommandFailure(
    'paper_refused',
    `${relayName} trades on a paper exchange that made its own keys; nothing was asked and nothing stored`,
    'A key of the real exchange belongs to a stack that trades there: name it with --stack.',
  );
}

/** Where and for what the key will be used. */
function describeKeyUse({ name, mode }: Account, location: ExchangeLocation): string {
  const where = `Key of ${name}: ${describeExchange(location)}.`;
  if (location.kind === 'paper')
    return `${where} It accepts only its own keys. The one of this account is stored already: ${describePaperKey(name)}.`;
  return mode === 'live'
    ? `${where} In mode live, orders are sent with this key.`
    : `${where} In mode ${mode}, no alert sends an order with it: it reads balances, fees and interest. Your own commands use it in every mode: \`relay cancel\`, and \`relay rehearse\`, which places orders and whose last step trades.`;
}

async function rotateToken(
  { session, printChange }: Context,
  name: string,
  graceHours: number,
): Promise<void> {
  const account = chooseAccount(session.settings, name);
  const oldValidUntilMs = session.clock.nowMs() + graceHours * msPerHour;
  await session.rotateToken(account, oldValidUntilMs);
  printChange({ account: account.name, oldValidUntilMs }, () =>
    [
      renderFields([
        ['account', account.name],
        [
          'old URL',
          graceHours === 0 ? 'no longer works' : `works until ${formatSecond(oldValidUntilMs)} UTC`,
        ],
        ['new URL', commandFor(session.target, `webhook ${account.name}`)],
      ]),
      '',
      session.changeHint,
    ].join('\n'),
  );
}
