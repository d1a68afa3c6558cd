/** What was found of one thing that has to be right. */
export interface Check {
  readonly name: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do about it; null when there is nothing to do. */
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
export function startAdvice(dataPath: string): string {
  const folder = dataPath === '.relay' ? '' : ` -- --data ${dataPath}`;
  return `Run \`npm start${folder}\` and leave it running.`;
}

/** How long the oldest message may wait before it is worth a look, and before something is wrong. */
const slowMs = 60_000;
const stuckMs = 300_000;

/** @param oldestAgeMs null when nothing waits, or nobody counts */
export function checkQueue(queue: {
  readonly waiting: number;
  readonly deadLetters: number;
  readonly oldestAgeMs: number | null;
}): readonly Check[] {
  const { waiting, deadLetters, oldestAgeMs } = queue;
  const age = oldestAgeMs === null ? '' : `, the oldest for ${Math.round(oldestAgeMs / 1000)} s`;
  const found = `${waiting} waiting${age}`;
  const advice = 'Look at the log of execute-signal: the market of the oldest message does not get on.';
  const waitingCheck =
    oldestAgeMs === null || oldestAgeMs < slowMs
      ? pass('queue', found)
      : (oldestAgeMs < stuckMs ? warn : fail)('queue', found, advice);
  const deadCheck =
    deadLetters === 0
      ? pass('dead letters', 'none: no message was put aside')
      : fail(
          'dead letters',
          `${deadLetters} messages failed again and again and were put aside: what they are about waits`,
          'Mend what the log of execute-signal names, then put them back with `redrive`.',
        );
  return [waitingCheck, deadCheck];
}

/**
 * Whether an alarm reaches anybody.
 *
 * @param topic its ARN
 * @param email who is meant to be told; null: nobody
 */
export function checkSubscribers(topic: {
  readonly topic: string;
  readonly email: string | null;
  /** Whom SNS would tell, and whether they agreed to it. */
  readonly subscriptions: readonly { readonly endpoint: string; readonly isConfirmed: boolean }[];
}): Check {
  const { topic: arn, email, subscriptions } = topic;
  const told = subscriptions.filter(({ isConfirmed }) => isConfirmed).map(({ endpoint }) => endpoint);
  if (told.length > 0) return pass('alarm mail', `goes to ${told.join(', ')}`);
  const [waiting] = subscriptions;
  if (waiting !== undefined)
    return fail(
      'alarm mail',
      `NOBODY is told of alarms: ${waiting.endpoint} did not confirm`,
      'Follow the link in the mail that AWS sent there; it holds for two days.',
    );
  if (email === null)
    return warn(
      'alarm mail',
      'NOBODY is told of alarms',
      'Set aws.alarmEmail in relay.config.ts and deploy.',
    );
  return fail(
    'alarm mail',
    `NOBODY is told of alarms: ${email} is no longer subscribed`,
    `Subscribe it again: aws sns subscribe --protocol email --notification-endpoint ${email} --topic-arn ${arn}`,
  );
}
