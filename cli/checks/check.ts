/** The result of one check of `doctor`. */
export interface Check {
  readonly name: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do; null when there is nothing to do. */
  readonly advice: string | null;
}

export function pass(name: string, found: string): Check {
  return { name, verdict: 'ok', found, advice: null };
}

export function warn(name: string, found: string, advice: string): Check {
  return { name, verdict: 'warn', found, advice };
}

export function fail(name: string, found: string, advice: string): Check {
  return { name, verdict: 'fail', found, advice };
}

/** How to start the local relay of a data folder. */
export function startAdvice(dataPath: string, isLive: boolean): string {
  return `Run \`${startCommand(dataPath, isLive)}\` and leave it running.`;
}

/** The command that starts the local relay of a data folder. */
export function startCommand(dataPath: string, isLive: boolean): string {
  const usual = isLive ? '.relay-live' : '.relay';
  const options = [...(isLive ? ['--live'] : []), ...(dataPath === usual ? [] : [`--data ${dataPath}`])];
  return options.length === 0 ? 'npm start' : `npm start -- ${options.join(' ')}`;
}

/** How long the oldest message may wait before `doctor` warns, and before the check fails. */
const slowMs = 60_000;
const stuckMs = 300_000;

/**
 * Judges the queue and the dead-letter queue; `oldestAgeMs` is null when no message waits or its age is
 * unknown.
 */
export function checkQueue(queue: {
  readonly waiting: number;
  readonly deadLetters: number;
  readonly oldestAgeMs: number | null;
}): readonly Check[] {
  const { waiting, deadLetters, oldestAgeMs } = queue;
  const age = oldestAgeMs === null ? '' : `, the oldest for ${Math.round(oldestAgeMs / 1000)} s`;
  const found = `${waiting} waiting${age}`;
  const advice = 'Read the log of execute-signal: the market of the oldest message makes no progress.';
  const waitingCheck =
    oldestAgeMs === null || oldestAgeMs < slowMs
      ? pass('queue', found)
      : (oldestAgeMs < stuckMs ? warn : fail)('queue', found, advice);
  const deadCheck =
    deadLetters === 0
      ? pass('dead letters', 'none')
      : fail(
          'dead letters',
          `${deadLetters} messages failed repeatedly; their signals are not executed`,
          'Correct the cause that the log of execute-signal names, then put them back with `redrive`.',
        );
  return [waitingCheck, deadCheck];
}

/**
 * Checks whether somebody receives the alarms.
 *
 * @param topic ARN of the SNS topic
 * @param email `aws.alarmEmail` of the configuration
 */
export function checkSubscribers(topic: {
  readonly topic: string;
  readonly email: string | null;
  /** The subscribers of the topic, and whether they confirmed. */
  readonly subscriptions: readonly { readonly endpoint: string; readonly isConfirmed: boolean }[];
}): Check {
  const { topic: arn, email, subscriptions } = topic;
  const receivers = subscriptions.filter(({ isConfirmed }) => isConfirmed).map(({ endpoint }) => endpoint);
  if (receivers.length > 0) return pass('alarm mail', `goes to ${receivers.join(', ')}`);
  const [waiting] = subscriptions;
  if (waiting !== undefined)
    return fail(
      'alarm mail',
      `NOBODY receives alarms: ${waiting.endpoint} has not confirmed the subscription`,
      'Follow the link in the e-mail that AWS sent there; it is valid for two days.',
    );
  if (email === null)
    return warn('alarm mail', 'NOBODY receives alarms', 'Set aws.alarmEmail in relay.config.ts and deploy.');
  return fail(
    'alarm mail',
    `NOBODY receives alarms: ${email} is not subscribed any more`,
    `Subscribe it again: aws sns subscribe --protocol email --notification-endpoint ${email} --topic-arn ${arn}`,
  );
}
