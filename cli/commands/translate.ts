import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { AlertContext } from '../../lib/signals/parse-alert.ts';
import { membersOf, memberValue, type OwnMessage } from '../../lib/translate/own-message.ts';
import { type Translation, translateMessage } from '../../lib/translate/translate-message.ts';
import { type Context, runCommand } from '../command.ts';
import { CommandFailure } from '../failure.ts';
import { chooseAccount } from '../session/session.ts';
import { renderTable } from '../show/table.ts';
import type { Screen } from '../show/terminal.ts';
import { readAlertFile } from './webhook.ts';

/** A message has at most 16 KiB; a file of more is another file. */
const largestFile = 64 * 1024;

export function addTranslateCommand(program: Command): void {
  program
    .command('translate')
    .description(
      'rewrite a message of another relay (TradersPost, 3Commas, WunderTrading, Alertatron, CrossTrade, PineConnector, OpenAlgo, Autoview, OKX) or a text as a message to paste; nothing is sent',
    )
    .argument('[file]', 'file with the message; without it or with -, standard input', '-')
    .option(
      '--account <name>',
      'the account whose settings check the message (default: the first configured one)',
    )
    .action((file: string, options: { account?: string }, command: Command) =>
      runCommand(command, (context) => translate(context, file, options.account)),
    );
}

async function translate(
  { session, terminal, print }: Context,
  file: string,
  name: string | undefined,
): Promise<void> {
  const account = chooseAccount(session.settings, name);
  const bytes = file === '-' ? await buffer(terminal.stdin) : await readAlertFile(file);
  if (bytes.byteLength > largestFile)
    throw new CommandFailure(
      'too_large',
      `the message has ${bytes.byteLength} bytes`,
      'Give one alert message.',
    );
  const { tickers, defaultMaxLagMs } = session.settings;
  const context: AlertContext = {
    account,
    tickers,
    defaultMaxLagMs,
    nowMs: session.clock.nowMs(),
    futureAllowanceMs: 0,
  };
  const translation = translateMessage(bytes.toString(), context);
  if (translation.messages.length === 0) throw createFailure(translation);
  const { product, words, advice, isTaken } = translation;
  const documents = translation.messages.map((message) =>
    Object.fromEntries(membersOf(message).map(([name, value]) => [name, memberValue(name, value)])),
  );
  const [only] = documents;
  const message = documents.length === 1 ? only : documents;
  print({ product, account: account.name, message, words, advice }, () =>
    [
      isTaken
        ? `This is ${product}. The relay takes it as it is; in full it says:`
        : `This is ${product}. Paste this instead:`,
      '',
      JSON.stringify(message, null, 2),
      '',
      ...renderWords(translation, terminal),
      ...advice.map((line) => `First: ${line}`),
      `Account ${account.name} ${advice.length === 0 ? 'takes the message' : 'takes the message then'}, with the placeholders filled.`,
    ].join('\n'),
  );
}

function renderWords({ words }: Translation, screen: Screen): readonly string[] {
  if (words.length === 0) return [];
  const rows = words.map(({ theirs, ours, note }) => [theirs, describeFields(ours), note]);
  const columns = [
    { title: 'there', wraps: true },
    { title: 'here', wraps: true },
    { title: 'what differs', wraps: true },
  ];
  return [renderTable(columns, rows, screen), ''];
}

function describeFields(fields: OwnMessage): string {
  const entries = Object.entries(fields);
  return entries.length === 0 ? '–' : entries.map(([name, value]) => `"${name}": "${value}"`).join(', ');
}

/** What is missing, and what was understood all the same. */
function createFailure({ product, missing, words }: Translation): CommandFailure {
  return new CommandFailure(
    'not_translated',
    `there is nothing to paste: this is ${product}, and its meaning cannot be told`,
    'Add what is missing, or write the message with `npx relay webhook`.',
    {
      issues: [
        ...missing.map((message) => ({ path: 'missing', message, hint: '' })),
        ...words.map(({ theirs, ours, note }) => ({
          path: theirs,
          message: describeFields(ours),
          hint: note,
        })),
      ],
    },
  );
}
