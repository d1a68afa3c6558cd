import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import * as z from 'zod';
import { catalogue, type ErrorCode } from '../../lib/base/errors.ts';
import { parseOwnJson } from '../../lib/base/json.ts';
import type { Account } from '../../lib/model/account.ts';
import { messageTemplate } from '../../lib/signals/message-template.ts';
import { type Context, runCommand } from '../command.ts';
import { CommandFailure } from '../failure.ts';
import type { HttpResponse } from '../http.ts';
import { renderFields } from '../print.ts';
import { chooseAccount } from '../session.ts';
import { isSystemError } from '../system-error.ts';
import { renderTable } from '../table.ts';
import type { Screen } from '../terminal.ts';

export function addWebhookCommands(program: Command): void {
  program
    .command('webhook')
    .description('show the webhook URL, with its token, and an alert message to paste')
    .argument('[account]', 'default: the first configured account')
    .action((account: string | undefined, _options: object, command: Command) =>
      runCommand(command, (context) => showWebhook(context, account)),
    );
  program
    .command('send')
    .description("post a file's bytes to the webhook, as TradingView would")
    .argument('<file>', 'an alert message; - reads standard input')
    .option('--account <name>', 'default: the first configured account')
    .action((file: string, options: { account?: string }, command: Command) =>
      runCommand(command, (context) => sendAlert(context, file, options.account)),
    );
}

async function showWebhook({ session, print }: Context, name: string | undefined): Promise<void> {
  const account = chooseAccount(session.settings, name);
  const url = await session.readWebhookUrl(account);
  const template = templateFor(account);
  print({ account: account.name, url, template: parseOwnJson<object>(template) }, () =>
    [
      renderFields([
        ['account', `${account.name} (${account.mode})`],
        ['webhook', url],
        ['tickers', tickersOf(session.settings.tickers, account)],
      ]),
      '',
      'Alert message for a strategy (buys and sells as stop-limit orders), ready to paste:',
      '',
      template,
      '',
      'Whoever has the URL can trade: keep it to yourself, and its token out of the message.',
      session.reachHint,
    ].join('\n'),
  );
}

/** Without an offset of the account, an alert has to bring its own limit price. */
export function templateFor(account: Account): string {
  if (account.limitOffsetRate !== null) return messageTemplate;
  return messageTemplate.replace(
    /( *)"stopPrice": (.*)\n/,
    (line, indent, price) => `${line}${indent}"limitPrice": ${price}\n`,
  );
}

/** The tickers that an alert of the account may name. */
function tickersOf(tickers: Readonly<Record<string, string>>, account: Account): string {
  const allowed = Object.entries(tickers).filter(([, market]) => Object.hasOwn(account.markets, market));
  return allowed.map(([ticker, market]) => `${ticker} → ${market}`).join(', ');
}

const SignalReceipt = z.object({
  signalId: z.string(),
  status: z.string(),
  duplicate: z.boolean().default(false),
});
const Receipt = z.union([
  z.object({ signals: z.array(SignalReceipt) }),
  SignalReceipt.transform((receipt) => ({ signals: [receipt] })),
]);

const Refusal = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    issues: z.array(z.object({ path: z.string(), message: z.string(), hint: z.string() })),
  }),
});

async function sendAlert(
  { session, terminal, printChange }: Context,
  file: string,
  name: string | undefined,
): Promise<void> {
  const account = chooseAccount(session.settings, name);
  const body = file === '-' ? await buffer(terminal.stdin) : await readAlertFile(file);
  const response = await session.sendAlert(account, body);
  const receipt = Receipt.safeParse(response.body);
  if (!receipt.success || response.httpStatus >= 300) throw createRefusal(response, session.relayName);
  const { signals } = receipt.data;
  printChange({ httpStatus: response.httpStatus, signals }, () => renderReceipt(signals, terminal));
}

function renderReceipt(signals: readonly z.output<typeof SignalReceipt>[], screen: Screen): string {
  const [only] = signals;
  const next = only !== undefined && signals.length === 1 ? `signal ${only.signalId}` : 'signals';
  const rows = signals.map(({ signalId, status, duplicate }) => [
    signalId,
    duplicate ? `${status} before; nothing is done twice` : status,
  ]);
  return `${renderTable([{ title: 'signal' }, { title: 'status' }], rows, screen)}\n\nWhat becomes of it: npx relay ${next}`;
}

async function readAlertFile(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const reason = isSystemError(error) ? ` (${error.code})` : '';
    throw new CommandFailure(
      'file_unreadable',
      `"${path}" cannot be read${reason}`,
      'Check the path of the file.',
    );
  }
}

function createRefusal({ httpStatus, body }: HttpResponse, recipient: string): CommandFailure {
  const refusal = Refusal.safeParse(body);
  if (!refusal.success)
    return new CommandFailure(
      'strange_answer',
      `${recipient} answered HTTP ${httpStatus}, but not as a relay does`,
      'Something else listens there: stop it, or start the relay on another port.',
    );
  const { code, message, issues } = refusal.data.error;
  const action = Object.hasOwn(catalogue, code) ? catalogue[code as ErrorCode].action : '';
  return new CommandFailure(code, `refused with HTTP ${httpStatus}: ${message}`, action, { issues });
}
