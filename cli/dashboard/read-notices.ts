import type { ChannelShown, NoticesShown } from '../../dashboard/documents.ts';
import { RelayError } from '../../lib/base/errors.ts';
import { isRequestChannel } from '../../lib/notices/channels.ts';
import type { ChannelName } from '../../lib/notices/notice-settings.ts';
import { CommandFailure } from '../failure.ts';
import type { Session } from '../session/session.ts';

/** Who is told, and how each channel fares. Nothing of it is a secret: a reason is kept without what opens the channel. */
export async function readNotices(session: Session): Promise<NoticesShown> {
  const { settings, toldBesides } = session.notices;
  return {
    toldBesides,
    channels: await Promise.all(settings.channels.map((name) => readChannel(session, name))),
  };
}

async function readChannel({ notices, target }: Session, name: ChannelName): Promise<ChannelShown> {
  const state = await notices.readState(name);
  return {
    name,
    isReached: await isReached(),
    sentAtMs: state?.sentAtMs ?? null,
    waiting: state === null ? null : await notices.countWaiting(state.seq),
    failures: state?.failures ?? 0,
    failure: state?.failure ?? null,
    retryAtMs: state === null || state.failures === 0 ? null : state.retryAtMs,
  };

  /** E-mail goes through the topic of a stack, which one machine does not have. */
  async function isReached(): Promise<boolean> {
    if (!isRequestChannel(name)) return target.kind !== 'local';
    try {
      return (await notices.readWays())[name] !== undefined;
    } catch (error) {
      // A stack that was deployed without channels, or secrets that cannot be read: the checks say why.
      if (error instanceof CommandFailure || error instanceof RelayError) return false;
      throw error;
    }
  }
}
