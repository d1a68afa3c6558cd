import { styleText } from 'node:util';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { type AccountPause, describePauseKind } from '../../lib/ledger/pauses.ts';
import type { Account, AccountMode } from '../../lib/model/account.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { findTry, firstAlertText, takesFirstAlert } from '../../lib/signals/first-alert.ts';
import { createTemplate, templatesOf } from '../../lib/signals/message-template.ts';

export interface GreetingFacts {
  readonly relayUrl: string;
  readonly exchangeUrl: string;
  /** Of the operator's page, with its token if this goes to a terminal; null: there is none. */
  readonly pageUrl: string | null;
  /** Whether orders trade real money. */
  readonly isLive: boolean;
  readonly dialect: Dialect;
  /** Whether prices of the paper exchange move only by hand. */
  readonly isFrozen: boolean;
  /** The data folder, as the command line named it. */
  readonly data: string;
  /** Of the first configured account; null where it may not be shown, which is everywhere but in a terminal. */
  readonly webhookUrl: string | null;
  /**
   * The same at the address of the relay itself, for commands on this machine: through a proxy here, every sender would seem
   * to be this machine, so that nobody may post so.
   */
  readonly ownWebhookUrl: string | null;
  readonly account: Account;
  readonly accounts: readonly Pick<Account, 'name' | 'mode'>[];
  readonly tickers: Settings['tickers'];
  /** One sentence for each region that restricts some of the accounts. */
  readonly regionNotes: readonly string[];
  /** What the limits of the accounts leave out on spot, one sentence each. */
  readonly limitNotes: readonly string[];
  readonly paused: readonly Pick<AccountPause, 'account' | 'kind'>[];
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
  const { pageUrl } = facts;
  return `
  relay           ${facts.relayUrl}
${writeExchange(facts)}
${pageUrl === null ? '' : `  page            ${pageUrl}\n`}  data            ${facts.data}
  process         ${process.pid}  (Ctrl-C, or \`kill ${process.pid}\`, stops everything)
${writeNotes(facts)}
${writeWebhook(facts)}

${writeBeginning(facts)}
ready
`;
}

function writeWebhook(facts: GreetingFacts): string {
  const { account, webhookUrl } = facts;
  if (webhookUrl === null)
    return `  The webhook of account ${account.name} is secret. This prints it:\n\n  npx relay webhook${writeFolder(facts)}`;
  return `  The webhook of account ${account.name}, which is secret:\n\n  ${webhookUrl}`;
}

function writeBeginning(facts: GreetingFacts): string {
  if (facts.isLive) return writeLiveCommands(facts);
  const isFirst = takesFirstAlert(facts.tickers, facts.account, facts.dialect);
  return isFirst ? writeFirstAlert(facts) : writeTemplate(facts);
}

function writeExchange({ exchangeUrl, dialect, isLive, isFrozen }: GreetingFacts): string {
  if (isLive) return `  REAL exchange   ${exchangeUrl}  (${dialect} dialect)`;
  return `  paper exchange  ${exchangeUrl}  (${dialect} dialect${isFrozen ? '; prices stand still' : ''})
                  key paper-key, secret paper-secret`;
}

function writeLiveCommands(facts: GreetingFacts): string {
  const folder = writeFolder(facts);
  return `  From another terminal in this folder:

    npx relay doctor${folder}
    npx relay signals${folder}
    npx relay pause${folder}
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
${facts.ownWebhookUrl === null ? '' : writeCurl(facts.ownWebhookUrl)}`;
}

function writeCurl(url: string): string {
  return `
  The same with curl, where sed writes the time as TradingView would:

    sed "s/{{timenow}}/$(date -u +%FT%TZ)/" examples/first-alert.json |
      curl --data-binary @- \\
      '${url}'
`;
}

/** For an account that cannot send the first alert. */
function writeTemplate(facts: GreetingFacts): string {
  const { account, dialect } = facts;
  const [name = 'breakout'] = templatesOf(dialect, account);
  const { message, edits } = createTemplate(name, account, dialect);
  const fields = edits.map(({ field }) => field).join(', ');
  return `  An alert message for a TradingView strategy${fields === '' ? '' : `; EDIT ${fields} first`}:

${indent(message)}

  Other scripts have other messages:

    npx relay webhook --help

${writeTry(facts)}    npx relay signals${writeFolder(facts)}
`;
}

function writeTry(facts: GreetingFacts): string {
  const example = findTry(facts.tickers, facts.account, facts.dialect);
  if (example === null) return '  What became of each alert, from another terminal in this folder:\n\n';
  const { ownWebhookUrl: url } = facts;
  return `  Try it here, from another terminal in this folder:

    ${url === null ? `npx relay send examples/${example}${writeFolder(facts)}` : `curl --data-binary @examples/${example} \\\n      '${url}'`}
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

function writeNotes(facts: GreetingFacts): string {
  const { isLive, accounts, paused, regionNotes, limitNotes, data, wasPaperEmptied } = facts;
  const notes: readonly Note[] = [
    ...(isLive ? listLiveNotes(accounts) : listPaperNotes(accounts)),
    ...(wasPaperEmptied ? [['NEW', emptiedNote] as const] : []),
    ...(paused.length === 0
      ? []
      : [
          [
            'PAUSED',
            `${describePaused(paused)}. \`npx relay resume${writeFolder({ data })}\` ends it`,
          ] as const,
        ]),
    ...regionNotes.map((note) => ['REGION', note] as const),
    ...limitNotes.map((note) => ['LIMITS', note] as const),
  ];
  return notes.map(([title, text]) => writeNote(title, text)).join('');
}

type Note = readonly [title: string, text: string];

function listPaperNotes(accounts: GreetingFacts['accounts']): readonly Note[] {
  const live = namesOf(accounts, 'live');
  return live.length === 0 ? [] : [['PAPER', describeLiveOnPaper(live)]];
}

/** No account is passed over in silence: each one trades real money, or sends nothing. */
function listLiveNotes(accounts: GreetingFacts['accounts']): readonly Note[] {
  const live = namesOf(accounts, 'live');
  const [paper, dryRun] = [namesOf(accounts, 'paper'), namesOf(accounts, 'dry-run')];
  return [
    live.length === 0
      ? ['LIVE', 'No account trades real money: none has mode "live".']
      : ['LIVE', `${live.join(', ')}: orders trade real money.`],
    ...(paper.length === 0 ? [] : [['NOTHING SENT', describePaperInLive(paper)] as const]),
    ...(dryRun.length === 0
      ? []
      : [['NOTHING SENT', `${dryRun.join(', ')}: mode "dry-run". Every signal ends as dry_run.`] as const]),
  ];
}

function namesOf(accounts: GreetingFacts['accounts'], mode: AccountMode): readonly string[] {
  return accounts.filter((account) => account.mode === mode).map(({ name }) => name);
}

function describePaperInLive(names: readonly string[]): string {
  return `${names.join(', ')}: mode "paper", and a run with \`--live\` has no paper exchange. Every signal ends as dry_run.`;
}

/** `main, rehearsal: no order goes out, …`: the accounts of each kind of pause together. */
function describePaused(paused: GreetingFacts['paused']): string {
  const byEffect = Map.groupBy(paused, ({ kind }) => describePauseKind(kind));
  return [...byEffect]
    .map(([effect, accounts]) => `${accounts.map(({ account }) => account).join(', ')}: ${effect}`)
    .join('. ');
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
