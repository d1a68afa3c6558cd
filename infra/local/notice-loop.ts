import type { Clock } from '../../lib/base/clock.ts';
import { describeSafely } from '../../lib/base/describe-error.ts';
import type { Log } from '../../lib/base/log.ts';
import { createTransport } from '../../lib/base/transport.ts';
import type { NoticeSecrets } from '../../lib/host/secrets.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { isRequestChannel } from '../../lib/notices/channels.ts';
import { describeDay, dueDay, type HeartbeatServices } from '../../lib/notices/heartbeat.ts';
import { type NoticeOutbox, type OutboxServices, tellChanges } from '../../lib/notices/notice-outbox.ts';
import { type ChannelName, levelOf, type NoticeSettings } from '../../lib/notices/notice-settings.ts';
import { openRequestChannel } from '../../lib/notices/request-channel.ts';
import { type MinuteLoop, startMinuteLoop } from './minute-loop.ts';

/** In between, what has happened is gathered; a group of Telegram takes twenty messages a minute. */
const turnEveryMs = 3_000;

export interface NoticeLoopServices extends HeartbeatServices {
  readonly ledger: HeartbeatServices['ledger'] & OutboxServices['ledger'];
  readonly outbox: NoticeOutbox;
  readonly settings: NoticeSettings;
  readonly accounts: readonly string[];
  readonly secrets: NoticeSecrets;
  readonly clock: Clock;
  readonly log: Log;
}

/** E-mail goes through a topic of SNS, which one machine does not have. */
export function localNotices(settings: NoticeSettings): NoticeSettings {
  return { ...settings, channels: settings.channels.filter(isRequestChannel) };
}

/** What the owner of accounts that trade live must not overlook; null while somebody is told, or nothing is live. */
export function describeUntold(
  { channels }: NoticeSettings,
  accounts: Settings['accounts'],
  isPaper: boolean,
): string | null {
  const live = Object.values(accounts).filter(({ mode }) => mode === 'live');
  if (isPaper || live.length === 0 || channels.length > 0) return null;
  const names = live.map(({ name }) => name).join(', ');
  return `${names}: the mode is "live", and NOBODY is told of fills, refusals and alarms: name a channel in notices.channels of relay.config.ts, then run \`npx relay notify set\``;
}

/**
 * Tells what the ledger noted, beside everything else that the relay does: nothing waits for it.
 *
 * @param everyMs absent: three seconds
 */
export function startNoticeLoop(services: NoticeLoopServices, everyMs: number = turnEveryMs): MinuteLoop {
  const { settings, secrets, clock, log } = services;
  if (settings.channels.length === 0) return { run: async () => undefined, stop: async () => undefined };
  const transport = createTransport();
  const openChannel = async (name: ChannelName) => {
    if (!isRequestChannel(name)) throw new TypeError(`${name} is no channel of one machine`);
    return openRequestChannel(name, await secrets.noticeWays(), { transport, clock });
  };
  const loop = startMinuteLoop(async () => {
    try {
      await noteDays(services);
      await tellChanges({ ...services, openChannel });
    } catch (error) {
      log.error('notices could not be told, or not noted as told; the next turn tries again', {
        reason: describeSafely(error),
      });
    }
  }, everyMs);
  return {
    run: loop.run,
    async stop() {
      // A request in flight counts as failed, and is repeated by the next start.
      transport.close();
      await loop.stop();
    },
  };
}

/** Notes the heartbeat of each account once a day; a start that comes later in the day makes up for it. */
async function noteDays(services: NoticeLoopServices): Promise<void> {
  const { outbox, settings, accounts, clock } = services;
  const nowMs = clock.nowMs();
  const day = dueDay(settings, nowMs);
  for (const account of accounts) {
    if (levelOf(settings, account, 'heartbeat') === 'off') continue;
    if (outbox.changes.toldDay(account) === day) continue;
    await outbox.changes.addDay(account, day, await describeDay(services, account, nowMs), nowMs);
  }
}
