import { execFile } from 'node:child_process';
import { describeError } from '../../lib/base/describe-error.ts';
import type { Log } from '../../lib/base/log.ts';
import type { Environment } from '../../lib/host/environment.ts';

/** Tells others that the relay is up, so that they notice when it is not. */
export interface Watchdog {
  /** Tells that it stops, and tells nothing afterwards. */
  stop(): void;
}

const minuteMs = 60_000;
/** A relay that has just started is not ready at once. */
const againMs = 2_000;
const pingTimeoutMs = 10_000;

/**
 * Tells the service manager that the relay is ready and, as often as it asks for, that it is alive; and asks a URL once a
 * minute while the relay is ready, as services like healthchecks.io expect it.
 *
 * Node has no datagram sockets of Unix, which systemd listens on. So each word to systemd is one run of its own program
 * `systemd-notify`; the unit allows that with `NotifyAccess=all`.
 *
 * @param options.environment has `NOTIFY_SOCKET` and `WATCHDOG_USEC` under systemd
 * @param options.isReady whether alerts are stored and executed
 * @param options.findObstacle why no alert can be taken; null: alerts can be taken. The service manager shows it, and does
 * not start the relay again: that would not help, and open orders would be left alone
 * @see https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
 */
export function startWatchdog(options: {
  readonly environment: Environment;
  readonly pingUrl: string | undefined;
  readonly isReady: () => Promise<boolean>;
  readonly findObstacle: () => Promise<string | null>;
  readonly log: Log;
}): Watchdog {
  const { environment, pingUrl, isReady, findObstacle, log } = options;
  const timers: NodeJS.Timeout[] = [];
  const notify = (word: string) => notifyManager(environment, word, log);
  const ping = createPing(pingUrl, isReady, log);

  notify('READY=1');
  const aliveEveryMs = readInterval(environment);
  // The timer itself is the sign of life: it runs only while the event loop does.
  let shown = '';
  async function showStatus(): Promise<void> {
    const status = (await findObstacle()) ?? '';
    if (status === shown || isStopped) return;
    shown = status;
    notify(`STATUS=${status}`);
  }
  if (aliveEveryMs !== null)
    timers.push(
      setInterval(() => {
        notify('WATCHDOG=1');
        void showStatus();
      }, aliveEveryMs),
    );
  let next: NodeJS.Timeout | undefined;
  let isStopped = false;
  async function pingOn(): Promise<void> {
    const wasAsked = await ping?.();
    if (!isStopped && ping !== null) next = setTimeout(() => void pingOn(), wasAsked ? minuteMs : againMs);
  }
  void pingOn();
  return {
    stop() {
      isStopped = true;
      clearTimeout(next);
      for (const timer of timers) clearInterval(timer);
      notify('STOPPING=1');
    },
  };
}

/** A third of the time after which systemd ends the process; null when nobody watches. */
function readInterval(environment: Environment): number | null {
  const limitUs = Number(environment['WATCHDOG_USEC'] ?? '');
  return Number.isFinite(limitUs) && limitUs > 0 ? Math.max(limitUs / 3_000, 100) : null;
}

function notifyManager(environment: Environment, word: string, log: Log): void {
  if ((environment['NOTIFY_SOCKET'] ?? '') === '') return;
  execFile('systemd-notify', [word], { env: { ...process.env, ...environment } }, (error) => {
    if (error !== null) log.error('the service manager could not be told', { word, reason: error.message });
  });
}

/** @returns whether the service was told. While the relay is not ready, or the URL cannot be asked, the service hears nothing, and tells its owner so. */
function createPing(
  url: string | undefined,
  isReady: () => Promise<boolean>,
  log: Log,
): (() => Promise<boolean>) | null {
  if (url === undefined) return null;
  let isFailing = false;
  return async () => {
    try {
      if (!(await isReady())) return false;
      const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(pingTimeoutMs) });
      if (!ok) throw new Error(`HTTP ${status}`);
      isFailing = false;
      return true;
    } catch (error) {
      // Once, and not every minute. The URL is as good as a password of the watch, so it is not named.
      if (!isFailing) log.warn('the ping URL could not be asked', { reason: describeError(error) });
      isFailing = true;
      return false;
    }
  };
}
