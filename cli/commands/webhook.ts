import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { parseOwnJson } from '../../lib/base/json.ts';
import type { Account } from '../../lib/model/account.ts';
import {
  createTemplate,
  type MessageTemplate,
  type TemplateName,
  templateNames,
  templatesOf,
} from '../../lib/signals/message-template.ts';
import { isUnfilledHint } from '../../lib/signals/written-value.ts';
import { addAccountArgument, type Context, namedAccount, runCommand } from '../command.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import { readReceipt, type SignalReceipt } from '../session/alert-receipt.ts';
import type { LocalResponse } from '../session/http.ts';
import { chooseAccount, commandFor, type Session, type Target } from '../session/session.ts';
import { renderFields } from '../show/print.ts';
import { renderTable } from '../show/table.ts';
import type { Screen } from '../show/terminal.ts';
import { isSystemError } from '../system-error.ts';

export function addWebhookCommands(program: Command): void {
  const webhook = program
    .command('webhook')
    .description('show the webhook URL, with its token, and an alert message to paste');
  addAccountArgument(webhook, 'which account (default: the first configured one)')
    .addOption(
      new Option(
        '--for <script>',
        'what the alert is for: strategy (any; follows its position, on spot its orders), orders (any, market orders), limit (any, limit orders), breakout (a strategy that plots its level), indicator',
      ).choices(templateNames),
    )
    .action((account: string | undefined, options: { for?: TemplateName }, command: Command) =>
      runCommand(command, (context) => showWebhook(context, namedAccount(account, command), options.for)),
    );
  program
    .command('send')
    .description(
      'send the contents of a file to the webhook, as TradingView would; of all placeholders it fills in {{timenow}} alone',
    )
    .argument('<file>', 'file with an alert message; - reads standard input')
    .option('--account <name>', 'which account (default: the first configured one)')
    .action((file: string, options: { account?: string }, command: Command) =>
      runCommand(command, (context) => sendAlert(context, file, options.account)),
    );
}

async function showWebhook(
  { session, print }: Context,
  name: string | undefined,
  templateName: TemplateName | undefined,
): Promise<void> {
  const account = chooseAccount(session.settings, name);
  const template = chooseTemplate(session, account, templateName);
  const url = await session.readWebhookUrl(account);
  const { message, purpose, edits } = template;
  const change = session.findConfigChange();
  print(
    {
      account: account.name,
      url,
      tickers: Object.fromEntries(listTickers(session.settings.tickers, account)),
      for: template.name,
      purpose,
      template: parseOwnJson<object>(message),
      edits,
    },
    () =>
      [
        renderFields([
          [
            'account',
            `${account.name} (${describeMode(account, session.locateExchange().kind === 'paper')})`,
          ],
          ['webhook', url],
          ['tickers', describeTickers(session.settings.tickers, account)],
        ]),
        '',
        ...describeTemplate(template, templatesOf(session.locateExchange().dialect, account)),
        '',
        'Anyone who has the URL can trade: keep it secret, and do not put its token into the message.',
        session.reachHint,
        ...(change === null ? [] : [change]),
      ].join('\n'),
  );
}

function chooseTemplate(session: Session, account: Account, name: TemplateName | undefined): MessageTemplate {
  const { dialect } = session.locateExchange();
  const names = templatesOf(dialect, account);
  const chosen = name ?? names[0] ?? 'breakout';
  if (!names.includes(chosen))
    throw createUsageFailure(
      templatesOf(dialect, { region: null }).includes(chosen)
        ? `a message for ${chosen} needs orders that the exchange does not take from account ${account.name}, whose region is "${account.region}"`
        : `a message for ${chosen} needs orders that the dialect "${dialect}" does not have`,
      `Use --for ${names.join(' or --for ')}.`,
    );
  return createTemplate(chosen, account, dialect);
}

function describeTemplate(
  { name, purpose, message, edits }: MessageTemplate,
  names: readonly TemplateName[],
): readonly string[] {
  const others = names.filter((other) => other !== name);
  return [
    purpose,
    ...(edits.length === 0
      ? ['Ready to paste without edits:']
      : [`EDIT ${edits.map(({ field }) => field).join(', ')} before you paste it:`]),
    '',
    message,
    '',
    ...edits.map(({ field, what }) => `EDIT ${field}: ${what}`),
    `For other orders and scripts: webhook --for ${others.join(', --for ')}.`,
  ];
}

function describeMode({ mode }: Account, isPaperExchange: boolean): string {
  if (mode !== 'paper') return mode;
  return isPaperExchange ? 'paper' : 'paper: this relay sends no orders of it';
}

/** The tickers that the account may trade, each with its market. */
function listTickers(
  tickers: Readonly<Record<string, string>>,
  { markets }: Account,
): readonly (readonly [ticker: string, market: string])[] {
  return Object.entries(tickers).filter(([, market]) => Object.hasOwn(markets, market));
}

function describeTickers(tickers: Readonly<Record<string, string>>, account: Account): string {
  return listTickers(tickers, account)
    .map(([ticker, market]) => `${ticker} → ${market}`)
    .join(', ');
}

async function sendAlert(
  { session, terminal, printChange }: Context,
  file: string,
  name: string | undefined,
): Promise<void> {
  const account = chooseAccount(session.settings, name);
  const body = file === '-' ? await buffer(terminal.stdin) : await readAlertFile(file);
  const message = fillInTime(body, session.clock.nowMs());
  const response = await session.sendAlert(account, message);
  const signals = readReceiptOf(message, response, session.relayName);
  printChange({ httpStatus: response.httpStatus, signals }, () =>
    renderReceipt(signals, session.target, terminal),
  );
}

function renderReceipt(signals: readonly SignalReceipt[], target: Target, screen: Screen): string {
  const [only] = signals;
  const next = only !== undefined && signals.length === 1 ? `signal ${only.signalId}` : 'signals';
  const rows = signals.map(({ signalId, status, duplicate }) => [
    signalId,
    duplicate ? `known already: ${status}` : status,
  ]);
  return `${renderTable([{ title: 'signal' }, { title: 'status' }], rows, screen)}\n\nFor the outcome: ${commandFor(target, next)}`;
}

/** As TradingView does when it sends: `{{timenow}}` becomes the time in UTC, to the second. Other bytes stay as they are. */
function fillInTime(body: Buffer, nowMs: number): Buffer {
  const now = new Date(nowMs).toISOString().replace(/\.\d+/, '');
  return Buffer.from(body.toString('latin1').replaceAll('{{timenow}}', now), 'latin1');
}

/** A message that was made to be pasted is refused for what TradingView alone fills in: then this command says so. */
function readReceiptOf(
  message: Buffer,
  response: LocalResponse,
  recipient: string,
): readonly SignalReceipt[] {
  try {
    return readReceipt(response, recipient);
  } catch (error) {
    const unfilled = [...new Set(message.toString('utf8').match(/\{\{[^{}]*\}\}/g))];
    if (!(error instanceof CommandFailure && error.code.startsWith('invalid_')) || unfilled.length === 0)
      throw error;
    const issues = error.issues.map((issue) =>
      isUnfilledHint(issue.hint) ? { ...issue, hint: '`relay send` fills in {{timenow}} alone' } : issue,
    );
    const action = `This message is for the message box of an alert in TradingView, which fills in ${unfilled.join(', ')}. To try it here, write values in their place.`;
    throw new CommandFailure(error.code, error.message, action, { issues });
  }
}

/** @throws CommandFailure `file_unreadable` when there is no such file, or it may not be read */
export async function readAlertFile(path: string): Promise<Buffer> {
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
