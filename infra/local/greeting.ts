import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { Account } from '../../lib/model/account.ts';
import { createTemplate, type MessageTemplate, templatesOf } from '../../lib/signals/message-template.ts';

export interface GreetingFacts {
  readonly relayUrl: string;
  readonly paperUrl: string;
  readonly dialect: Dialect;
  /** Whether prices move only by hand. */
  readonly isFrozen: boolean;
  /** The data folder, as the command line named it. */
  readonly data: string;
  /** Of the first configured account. */
  readonly webhookUrl: string;
  readonly account: Account;
  /** One sentence for each region that restricts some of the accounts. */
  readonly regionNotes: readonly string[];
  /** Accounts whose orders are not sent until they are resumed. */
  readonly paused: readonly string[];
  /** Whether the paper exchange could not read what an older release had stored. */
  readonly wasPaperEmptied: boolean;
}

/** The text that a local run prints when it is ready. Its last line is `ready`. */
export function writeGreeting(facts: GreetingFacts): string {
  const { account, dialect, webhookUrl } = facts;
  const [templateName = 'breakout'] = templatesOf(dialect, account);
  const template = createTemplate(templateName, account, dialect);
  return `
  relay           ${facts.relayUrl}
  paper exchange  ${facts.paperUrl}  (${dialect} dialect, key paper-key, secret paper-secret${facts.isFrozen ? '; prices stand still' : ''})
  data            ${facts.data}
  process         ${process.pid}  (Ctrl-C, or \`kill ${process.pid}\`, stops everything)
  webhook         ${webhookUrl}
${writeNotes(facts)}
  Alert message for a TradingView strategy${writeEdits(template)} (for other scripts: npx relay webhook --help):

${template.message.replace(/^/gm, '    ')}

  Try it here, from another terminal:

    curl --data-binary @examples/buy-stop-limit.json '${webhookUrl}'
    npx relay signals${writeFolder(facts)}

ready
`;
}

/** The option that a command needs to find this relay. */
export function writeFolder({ data }: Pick<GreetingFacts, 'data'>): string {
  return data === '.relay' ? '' : ` --data ${data}`;
}

function writeEdits({ edits }: MessageTemplate): string {
  return edits.length === 0 ? '' : `; EDIT ${edits.map(({ field }) => field).join(', ')} first`;
}

function writeNotes({ paused, regionNotes, data, wasPaperEmptied }: GreetingFacts): string {
  const folder = writeFolder({ data });
  return [
    ...(wasPaperEmptied
      ? [
          'NEW             The paper exchange starts afresh: this release cannot read the orders and balances of an older one. The ledger is kept; its older paper orders exist no longer.',
        ]
      : []),
    ...(paused.length === 0
      ? []
      : [
          `PAUSED          ${paused.join(', ')}: no order is sent, cancellations are; \`npx relay resume${folder}\` ends it`,
        ]),
    ...regionNotes.map((note) => `REGION          ${note}`),
  ]
    .map((line) => `  ${line}\n`)
    .join('');
}
