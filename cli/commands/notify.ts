import { randomUUID } from 'node:crypto';
import { Argument, type Command } from 'commander';
import { describeSafely } from '../../lib/base/describe-error.ts';
import type { Sent } from '../../lib/notices/channel.ts';
import { channels, type RequestChannelName } from '../../lib/notices/channels.ts';
import { createNews } from '../../lib/notices/news.ts';
import { type NoticeMessage, writeNotice } from '../../lib/notices/notice-message.ts';
import type { ChannelName } from '../../lib/notices/notice-settings.ts';
import { type Context, runCommand } from '../command.ts';
import { CommandFailure } from '../failure.ts';
import { readWay } from '../session/read-way.ts';
import { chooseAccount, commandFor } from '../session/session.ts';
import { renderTable } from '../show/table.ts';

export function addNotifyCommands(program: Command): void {
  const notify = program
    .command('notify')
    .description('set and try the channels on which you are told of fills, refusals and alarms')
    .helpCommand(false);
  notify
    .command('set')
    .description('store how a channel is reached, from a prompt or from standard input')
    .addArgument(new Argument('<channel>', 'which channel').choices(Object.keys(channels)))
    .option('--forget', 'remove what is stored')
    .action((channel: RequestChannelName, options: { forget?: boolean }, command: Command) =>
      runCommand(command, (context) => setChannel(context, channel, options.forget === true)),
    );
  notify
    .command('test')
    .description('send one notice on every channel, and say what each service answered')
    .option('--account <name>', 'account that the notice names (default: the first one)')
    .action((options: { account?: string }, command: Command) =>
      runCommand(command, (context) => testChannels(context, options.account)),
    );
}

async function setChannel(
  { session, terminal, printChange }: Context,
  channel: RequestChannelName,
  isForgotten: boolean,
): Promise<void> {
  const { notices, target } = session;
  if (isForgotten) {
    await notices.storeWay(channel, null);
    printChange({ channel, stored: false }, () => `How ${channel} is reached is forgotten.`);
    return;
  }
  const { way, madeKey } = await readWay(terminal, channel);
  await notices.storeWay(channel, way);
  const isOn = notices.settings.channels.includes(channel);
  printChange({ channel, stored: true, isOn, ...(madeKey === null ? {} : { key: madeKey }) }, () =>
    [
      `How ${channel} is reached is stored.`,
      ...(madeKey === null ? [] : [`Its signing key, which the receiver needs and nobody else: ${madeKey}`]),
      isOn
        ? `\`${commandFor(target, 'notify test')}\` tries it.`
        : `It is off: add '${channel}' to notices.channels in relay.config.ts, then restart or deploy.`,
    ].join('\n'),
  );
}

async function testChannels({ session, terminal, print }: Context, name: string | undefined): Promise<void> {
  const { notices, settings, clock } = session;
  const account = chooseAccount(settings, name);
  const { channels: names } = notices.settings;
  if (names.length === 0)
    throw new CommandFailure(
      'no_channels',
      'nobody is told: notices.channels in relay.config.ts is empty',
      `Name one of: ${Object.keys(channels).join(', ')}; then run \`npx relay notify set\`.`,
    );
  const message = createTest(account.name, clock.nowMs());
  const tests = await Promise.all(
    names.map(async (channel) => ({ channel, ...(await sendTest(session, channel, message)) })),
  );
  const failed = tests.filter(({ kind }) => kind !== 'sent').map(({ channel }) => channel);
  print({ sent: failed.length === 0, tests }, () =>
    renderTable(
      [{ title: 'channel' }, { title: '' }, { title: 'answer', wraps: true }],
      tests.map((test) => [
        test.channel,
        test.kind === 'sent' ? { text: 'sent', style: 'good' } : { text: 'FAILED', style: 'alarm' },
        test.kind === 'sent' ? 'look whether it has arrived' : test.reason,
      ]),
      terminal,
    ),
  );
  if (failed.length > 0)
    throw new CommandFailure(
      'not_told',
      `${failed.join(', ')} did not take the notice`,
      `Correct how ${failed.length === 1 ? 'it is' : 'they are'} reached with ${failed.map((channel) => `\`${commandFor(session.target, `notify set ${channel}`)}\``).join(', ')}.`,
    );
}

function createTest(account: string, nowMs: number): NoticeMessage {
  const news = createNews({
    // Every test is news.
    key: `test ${randomUUID()}`,
    category: 'heartbeat',
    account,
    atMs: nowMs,
    headline: 'a test of the notices',
    detail: 'nothing has happened; whoever reads this is told of fills, refusals and alarms',
    isSingle: true,
  });
  return writeNotice([news], false, nowMs);
}

async function sendTest(
  { notices }: Context['session'],
  channel: ChannelName,
  message: NoticeMessage,
): Promise<Sent> {
  try {
    const open = await notices.openChannel(channel);
    return await open.send(message);
  } catch (error) {
    return {
      kind: 'failed',
      reason: error instanceof CommandFailure ? error.message : describeSafely(error),
    };
  }
}
