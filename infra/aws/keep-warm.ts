import { Duration, FileSystem } from 'aws-cdk-lib';
import { ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { Construct } from 'constructs';
import type { RelayFunction } from './relay-function.ts';
import { RelaySchedule } from './relay-schedule.ts';

/**
 * Lambda ends a process that nobody calls for some minutes; AWS does not say for how many. A function keeps secrets for five
 * minutes, and a call reads them again.
 */
const every = Duration.minutes(3);
/** Alerts come at full minutes: a call at any other time is over when they do. */
const spread = Duration.minutes(1);
/** `lib/host/keep-warm.ts` knows it by this. */
const call = { keepWarm: true };

/**
 * Calls functions so often that the first alert after a quiet day finds them running, with all that it needs. The queue's
 * event source does not: it calls execute-signal for messages alone.
 */
export class KeepWarm extends Construct {
  /** @param functions by the name of their schedule */
  constructor(scope: Construct, id: string, functions: Readonly<Record<string, RelayFunction>>) {
    super(scope, id);
    for (const [name, target] of Object.entries(functions))
      new RelaySchedule(this, name, {
        description: `Keeps ${name} warm`,
        expression: ScheduleExpression.rate(every),
        window: spread,
        target,
        input: ScheduleTargetInput.fromObject(call),
        // The next call does the same, and an alert that meets a cold start says so.
        retries: 0,
        maxAge: Duration.minutes(1),
        undelivered: null,
      });
  }
}

/** A name for the code and configuration in these folders: after a deployment of others every process is a new one. */
export function nameRelease(...bundles: readonly string[]): string {
  return bundles.map((folder) => FileSystem.fingerprint(folder).slice(0, 16)).join('-');
}
