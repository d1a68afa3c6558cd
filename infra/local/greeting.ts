import { styleText } from 'node:util';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { firstAlertText, takesFirstAlert } from '../../lib/signals/first-alert.ts';
import { createTemplate, templatesOf } from '../../lib/signals/message-template.ts';

export interface GreetingFacts {
  readonly relayUrl: string;
  readonly paperUrl: string;
  /** Of the operator's page, with its token if this goes to a terminal; null: there is none. */
  readonly pageUrl: string | null;
  readonly dialect: Dialect;
  /** Whether prices move only by hand. */
  readonly isFrozen: boolean;
  /** The data folder, as the command line named it. */
  readonly data: string;
  /** Of the first configured account. */
  readonly webhookUrl: string;
  readonly account: Account;
  readonly tickers: Settings['tickers'];
  /** The accounts whose mode is `live`, although nothing is live here. */
  readonly liveAccounts: readonly string[];
  /** One sentence for each region that restricts some of the accounts. */
  readonly regionNotes: readonly string[];
  /** Accounts whose orders are not sent until they are resumed. */
  readonly paused: readonly string[];
  /** Whether the paper exchange could not read what an older release had stored. */
  readonly wasPaperEmptied: boolean;
}

/** The width of a terminal that nobody has changed. */
const usualColumns = 80;

/**
 * The text that a local run prints when it is ready. Its last line is `ready`. Every line fits 80 columns, unless an address
 * or a folder is longer, so that the URL and each command can be copied.
 */
export function writeGreeting(facts: GreetingFacts): string {
  const { account, dialect, paperUrl, pageUrl, webhookUrl } = facts;
  const isFirst = takesFirstAlert(facts.tickers, account, dialect);
  return `
  relay           ${facts.relayUrl}
  paper exchange  ${paperUrl}  (${dialect} dialect${facts.isFrozen ? '; prices stand still' : ''})
                  key paper-key, secret paper-secret
${pageUrl === null ? '' : `  page            ${pageUrl}\n`}  data            ${facts.data}
  process         ${process.pid}  (Ctrl-C, or \`kill ${process.pid}\`, stops everything)
${writeNotes(facts)}
  The webhook of account ${account.name}, which is secret:

  ${webhookUrl}

${isFirst ? writeFirstAlert(facts) : writeTemplate(facts)}
ready
`;
}

function writeFirstAlert(facts: GreetingFacts): string {
  const send = joinCommand(['npx relay send examples/first-alert.json', writeFolder(facts).trim()]);
  return `  A first alert, for any chart or indicator. It buys once when it fires, and
  its stop-loss and take-profit stand as soon as the order is filled:

${indent(firstAlertText)}

  A strategy has a message of its own, which follows its position:

    npx relay webhook${writeFolder(facts)}

  Send the first alert yourself, from another terminal in this folder:

    ${send}
    npx relay signals${writeFolder(facts)}

  The same with curl, where sed writes the time as TradingView would:

    sed "s/{{timenow}}/$(date -u +%FT%TZ)/" examples/first-alert.json |
      curl --data-binary @- \\
      '${facts.webhookUrl}'
`;
}

/** For an account that cannot send the first alert. */
function writeTemplate(facts: GreetingFacts): string {
  const { account, dialect, webhookUrl } = facts;
  const [name = 'breakout'] = templatesOf(dialect, account);
  const { message, edits } = createTemplate(name, account, dialect);
  const fields = edits.map(({ field }) => field).join(', ');
  return `  An alert message for a TradingView strategy${fields === '' ? '' : `; EDIT ${fields} first`}:

${indent(message)}

  Other scripts have other messages:

    npx relay webhook --help

  Try it here, from another terminal in this folder:

    curl --data-binary @examples/buy-stop-limit.json \\
      '${webhookUrl}'
    npx relay signals${writeFolder(facts)}
`;
}

/** The option that a command needs to find this relay. */
export function writeFolder({ data }: Pick<GreetingFacts, 'data'>): string {
  return data === '.relay' ? '' : ` --data ${data}`;
}

/** What the owner of accounts in mode `live` must not mistake. */
export function describeLiveOnPaper(accounts: readonly string[]): string {
  return `${accounts.join(', ')}: the mode is "live", but \`npm start\` trades on its paper exchange. No order leaves this machine, and no real money moves.`;
}

function writeNotes({ liveAccounts, paused, regionNotes, data, wasPaperEmptied }: GreetingFacts): string {
  const notes: readonly (readonly [title: string, text: string])[] = [
    ...(liveAccounts.length === 0 ? [] : [['PAPER', describeLiveOnPaper(liveAccounts)] as const]),
    ...(wasPaperEmptied ? [['NEW', emptiedNote] as const] : []),
    ...(paused.length === 0
      ? []
      : [
          [
            'PAUSED',
            `${paused.join(', ')}: no order is sent, cancellations are; \`npx relay resume${writeFolder({ data })}\` ends it`,
          ] as const,
        ]),
    ...regionNotes.map((note) => ['REGION', note] as const),
  ];
  return notes.map(([title, text]) => writeNote(title, text)).join('');
}

const emptiedNote =
  'The paper exchange starts afresh: this release cannot read the orders and balances of an older one. The ledger is kept; its older paper orders exist no longer.';

const titleColumns = 18;

/** `  PAUSED          main: no order …`, with the text in a column of its own. */
function writeNote(title: string, text: string): string {
  const lines: string[] = [''];
  // A command in a note stays on one line, so that it can be copied.
  for (const word of text.match(/`[^`]*`\S*|\S+/g) ?? []) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (titleColumns + line.length + 1 + word.length <= usualColumns)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  const head = styleText(['bold', 'yellow'], title) + ' '.repeat(titleColumns - 2 - title.length);
  return lines
    .map((line, index) => `  ${index === 0 ? head : ' '.repeat(titleColumns - 2)}${line}\n`)
    .join('');
}

/** The parts of a command on one line, or on several where it is too long for one. */
function joinCommand(parts: readonly string[]): string {
  const line = parts.join(' ').trim();
  return line.length + 4 <= usualColumns ? line : parts.join(' \\\n      ');
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}
