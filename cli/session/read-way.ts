import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { isRecord, readJson } from '../../lib/base/json.ts';
import type { Way } from '../../lib/notices/channel.ts';
import { channels, complainWay, type RequestChannelName } from '../../lib/notices/channels.ts';
import { createUsageFailure } from '../failure.ts';
import type { Terminal } from '../show/terminal.ts';
import { askHidden } from './ask-hidden.ts';

export interface GivenWay {
  readonly way: Way;
  /** The signing key, if the relay has made it: the receiver needs it. */
  readonly madeKey: string | null;
}

/**
 * Reads how a channel is reached from the terminal without echo, or from standard input: its fields as JSON, or one a line in
 * the order in which they are asked for.
 *
 * @throws CommandFailure (usage) when it cannot be used; the message never quotes the input
 */
export async function readWay(terminal: Terminal, channel: RequestChannelName): Promise<GivenWay> {
  const { fields } = channels[channel];
  const given = terminal.stdin.isTTY
    ? pair(
        channel,
        await askHidden(
          terminal,
          fields.map(({ question }) => question),
        ),
      )
    : parseInput(channel, await text(terminal.stdin));
  const madeKey = channel === 'webhook' && isRecord(given) && !('key' in given) ? createKey() : null;
  const way = madeKey === null ? given : { ...(given as Way), key: madeKey };
  const faults = complainWay(channel, way);
  if (faults.length === 0) return { way: way as Way, madeKey };
  throw createUsageFailure(
    `${faults.join('; ')}; nothing was stored`,
    `Give one a line, or as JSON: ${fields.map(({ name, isRequired }) => `${name}${isRequired ? '' : ' (or empty)'}`).join(', ')}.`,
  );
}

function parseInput(channel: RequestChannelName, input: string): unknown {
  const trimmed = input.trim();
  return trimmed.startsWith('{') ? readJson(trimmed) : pair(channel, trimmed.split(/\r?\n/));
}

/** An empty answer leaves its field out. */
function pair(channel: RequestChannelName, answers: readonly string[] | undefined): unknown {
  const { fields } = channels[channel];
  if (answers === undefined || answers.length > fields.length) return undefined;
  return Object.fromEntries(
    fields.flatMap(({ name }, index) => {
      const answer = answers[index]?.trim() ?? '';
      return answer === '' ? [] : [[name, answer]];
    }),
  );
}

function createKey(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
