import { isRequestChannel } from '../../lib/notices/channels.ts';
import type { ChannelName } from '../../lib/notices/notice-settings.ts';
import { commandFor, type Session } from '../session/session.ts';
import { formatSecond } from '../show/print.ts';
import { type Check, fail, pass, warn } from './check.ts';

/** Checks whether somebody is told, and how each channel fares. */
export async function checkNotices(session: Session): Promise<readonly Check[]> {
  const { channels } = session.notices.settings;
  if (channels.length === 0) return [checkUntold(session)];
  return await Promise.all(channels.map((channel) => checkChannel(session, channel)));
}

/** The accounts that trade live while nobody is told of anything. */
export function listUntold({ settings, notices, locateExchange }: Session): readonly string[] {
  if (notices.settings.channels.length > 0 || notices.toldBesides !== null) return [];
  const live = Object.values(settings.accounts).filter(({ mode }) => mode === 'live');
  return live.length === 0 || locateExchange().kind === 'paper' ? [] : live.map(({ name }) => name);
}

function checkUntold(session: Session): Check {
  const { toldBesides } = session.notices;
  if (toldBesides !== null) return pass('notices', `off; ${toldBesides}`);
  const live = listUntold(session);
  if (live.length === 0) return pass('notices', 'off');
  return warn(
    'notices',
    `NOBODY is told of fills, refusals and alarms, and ${live.join(', ')} trades live`,
    'Name a channel in notices.channels of relay.config.ts, then run `npx relay notify set`.',
  );
}

async function checkChannel(session: Session, channel: ChannelName): Promise<Check> {
  const { notices, target } = session;
  const name = `notices: ${channel}`;
  if (!isRequestChannel(channel) && target.kind === 'local')
    return warn(name, 'a relay on one machine sends no e-mail', 'Take it out of notices.channels.');
  if (isRequestChannel(channel) && (await notices.readWays())[channel] === undefined)
    return fail(
      name,
      'nobody has said how it is reached',
      `Run \`${commandFor(target, `notify set ${channel}`)}\`.`,
    );
  const state = await notices.readState(channel);
  if (state !== null && state.failures > 0)
    return fail(
      name,
      `${state.failures === 1 ? 'the last request' : `the last ${state.failures} requests`} failed: ${state.failure ?? 'unknown'}`,
      `Correct it with \`${commandFor(target, `notify set ${channel}`)}\`; nothing is lost meanwhile.`,
    );
  const sentAtMs = state?.sentAtMs ?? null;
  return sentAtMs === null
    ? warn(
        name,
        'nothing told yet: it is not known whether anybody is reached',
        `Run \`${commandFor(target, 'notify test')}\`, and look whether it arrives. The first notice ends this warning.`,
      )
    : pass(name, `last told ${formatSecond(sentAtMs)} UTC`);
}
