import { Duration, Stack, TimeZone } from 'aws-cdk-lib';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { SnapshotSettings } from '../../lib/host/config.ts';
import type { SecretArns } from './account-secrets.ts';
import type { Bundles, FunctionName } from './bundle.ts';
import { findLongestPause } from './find-longest-pause.ts';
import { RelayFunction } from './relay-function.ts';
import { RelaySchedule } from './relay-schedule.ts';
import { SnapshotTable } from './snapshot-table.ts';

export interface AccountSnapshotsProps {
  readonly bundles: Bundles;
  /** When each is taken; what is never taken has neither function nor schedule. Null: none. */
  readonly settings: SnapshotSettings | null;
  readonly exchangeKeys: SecretArns;
  readonly logRetention: RetentionDays;
  /** Where runs go that were given up. */
  readonly undelivered: IQueue;
}

/** One kind of snapshot. */
export interface SnapshotJob {
  readonly name: JobName;
  readonly run: RelayFunction;
  /** How long its schedule is silent at the most; null when nobody can tell. */
  readonly longestPause: Duration | null;
}

type JobName = keyof typeof kinds;

interface JobKind {
  readonly setting: keyof Omit<SnapshotSettings, 'timeZone'>;
  readonly bundle: FunctionName;
  readonly keeps: string;
  /** On the table. */
  readonly actions: readonly string[];
  readonly timeout: Duration;
  readonly maxAge: Duration;
}

/** All accounts side by side, each for two tries of every call to AWS and the exchange's 10 s, and as much in reserve. */
const shortTimeout = Duration.minutes(1);
/** As long as Lambda allows: a partner's first import reads a hundred pages, and as many again for each of its plans. */
const longestTimeout = Duration.minutes(15);
/** As long as Lambda keeps a run that could not begin: fees and payments seen late are as good. */
const longestAge = Duration.hours(6);
/** Nobody waits for it; with ten thousand payments in hand it takes 110 MB. */
const memoryMiB = 512;

const kinds = {
  Balances: {
    setting: 'balances',
    bundle: 'snapshot-balances',
    keeps: 'what each account holds',
    actions: ['dynamodb:Query', 'dynamodb:PutItem'],
    timeout: shortTimeout,
    // Later it would no more be what was held then.
    maxAge: Duration.minutes(15),
  },
  Fees: {
    setting: 'fees',
    bundle: 'snapshot-fees',
    keeps: 'what changed of the fees',
    actions: ['dynamodb:Query', 'dynamodb:PutItem'],
    timeout: shortTimeout,
    maxAge: longestAge,
  },
  Interest: {
    setting: 'interest',
    bundle: 'import-interest',
    keeps: 'interest payments',
    actions: ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:PutItem'],
    timeout: longestTimeout,
    maxAge: longestAge,
  },
} as const satisfies Record<string, JobKind>;

/** What is kept of every account by the clock, and the functions that look. */
export class AccountSnapshots extends Construct {
  readonly table: SnapshotTable;
  readonly jobs: readonly SnapshotJob[];

  constructor(scope: Construct, id: string, props: AccountSnapshotsProps) {
    super(scope, id);
    // There even when nothing is taken: what was taken before stays to be read.
    this.table = new SnapshotTable(this, 'Table');
    this.jobs = (Object.keys(kinds) as JobName[]).flatMap((name) => this.#createJob(name, props));
  }

  #createJob(name: JobName, props: AccountSnapshotsProps): readonly SnapshotJob[] {
    const { setting, keeps, maxAge } = kinds[name];
    const cron = props.settings?.[setting] ?? null;
    if (props.settings === null || cron === null) return [];
    const { timeZone } = props.settings;
    const run = this.#createFunction(name, props);
    new RelaySchedule(this, `${name}Schedule`, {
      description: `Keeps ${keeps}`,
      expression: ScheduleExpression.expression(cron, TimeZone.of(timeZone)),
      target: run,
      retries: 10,
      maxAge,
      undelivered: props.undelivered,
    });
    return [{ name, run, longestPause: findLongestPause(cron, timeZone) }];
  }

  #createFunction(name: JobName, props: AccountSnapshotsProps): RelayFunction {
    const { bundle, keeps, actions, timeout } = kinds[name];
    const run = new RelayFunction(this, name, {
      description: `Trading relay: keeps ${keeps}`,
      bundle: props.bundles[bundle],
      memoryMiB,
      timeout,
      logRetention: props.logRetention,
      environment: {
        SNAPSHOT_TABLE: this.table.table.tableName,
        EXCHANGE_KEYS: Stack.of(this).toJsonString(props.exchangeKeys),
      },
    });
    run.grant(actions, [this.table.arn]);
    run.grant(['secretsmanager:GetSecretValue'], Object.values(props.exchangeKeys));
    return run;
  }
}
