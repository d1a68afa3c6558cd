import { Duration, Stack, TimeZone } from 'aws-cdk-lib';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { SnapshotSettings } from '../../lib/host/config.ts';
import type { SecretArns } from './account-secrets.ts';
import type { Bundles, FunctionName } from './bundle.ts';
import { findLongestPause } from './find-longest-pause.ts';
import type { FixedAddress } from './fixed-address.ts';
import type { LedgerTable } from './ledger-table.ts';
import { RelayFunction } from './relay-function.ts';
import { RelaySchedule } from './relay-schedule.ts';
import { SnapshotTable } from './snapshot-table.ts';

export interface AccountSnapshotsProps {
  readonly bundles: Bundles;
  /**
   * The schedule of each snapshot; one that is null has neither function nor schedule. Null: no snapshots.
   */
  readonly settings: SnapshotSettings | null;
  readonly exchangeKeys: SecretArns;
  readonly logRetention: RetentionDays;
  /** Through which network the functions go out; null: by the addresses of Lambda. */
  readonly network: FixedAddress | null;
  /** Receives the runs that were given up. */
  readonly undelivered: IQueue;
  /** Where alarms are noted for the notices; null: nobody is told. */
  readonly alarmsIn: LedgerTable | null;
}

/** One kind of snapshot. */
export interface SnapshotJob {
  readonly name: JobName;
  readonly run: RelayFunction;
  /** The longest time between two runs of its schedule; null when it cannot be computed. */
  readonly longestPause: Duration | null;
}

type JobName = keyof typeof kinds;

interface JobKind {
  readonly setting: keyof Omit<SnapshotSettings, 'timeZone'>;
  readonly bundle: FunctionName;
  readonly keeps: string;
  /** What the function may do with the table. */
  readonly actions: readonly string[];
  readonly timeout: Duration;
  readonly maxAge: Duration;
  /** Whether it raises alarms of its own. */
  readonly raises: boolean;
}

/**
 * Accounts run in parallel. Each takes two tries of every AWS
 * call and the exchange's 10 s; as much again is reserve.
 */
const shortTimeout = Duration.minutes(1);
/**
 * The most Lambda allows: a partner's first import reads a
 * hundred pages, and as many again for each of its plans.
 */
const longestTimeout = Duration.minutes(15);
/**
 * The longest Lambda keeps a run that could not start: late
 * snapshots of fees and payments are as good as punctual ones.
 */
const longestAge = Duration.hours(6);
/** No caller waits, so speed matters little; a run with ten thousand payments takes 110 MB. */
const memoryMiB = 512;

const kinds = {
  Balances: {
    setting: 'balances',
    bundle: 'snapshot-balances',
    keeps: 'the balances of each account',
    actions: ['dynamodb:Query', 'dynamodb:PutItem'],
    timeout: shortTimeout,
    // Balances read later would not be those of the scheduled time.
    maxAge: Duration.minutes(15),
    raises: false,
  },
  Fees: {
    setting: 'fees',
    bundle: 'snapshot-fees',
    keeps: 'changes of transfer fees',
    actions: ['dynamodb:Query', 'dynamodb:PutItem'],
    timeout: shortTimeout,
    maxAge: longestAge,
    raises: false,
  },
  Interest: {
    setting: 'interest',
    bundle: 'import-interest',
    keeps: 'interest payments',
    actions: ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:PutItem'],
    timeout: longestTimeout,
    maxAge: longestAge,
    raises: true,
  },
} as const satisfies Record<string, JobKind>;

/** The scheduled snapshots of every account: their table, and a function and a schedule for each kind. */
export class AccountSnapshots extends Construct {
  readonly table: SnapshotTable;
  readonly jobs: readonly SnapshotJob[];

  constructor(scope: Construct, id: string, props: AccountSnapshotsProps) {
    super(scope, id);
    // Created even without any schedule, so that earlier snapshots stay readable.
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
      description: `Stores ${keeps}`,
      expression: ScheduleExpression.expression(cron, TimeZone.of(timeZone)),
      target: run,
      retries: 10,
      maxAge,
      undelivered: props.undelivered,
    });
    return [{ name, run, longestPause: findLongestPause(cron, timeZone) }];
  }

  #createFunction(name: JobName, props: AccountSnapshotsProps): RelayFunction {
    const { bundle, keeps, actions, timeout, raises } = kinds[name];
    const noted = raises ? props.alarmsIn : null;
    const run = new RelayFunction(this, name, {
      description: `Trading relay: stores ${keeps}`,
      bundle: props.bundles[bundle],
      memoryMiB,
      timeout,
      logRetention: props.logRetention,
      network: props.network,
      environment: {
        SNAPSHOT_TABLE: this.table.table.tableName,
        EXCHANGE_KEYS: Stack.of(this).toJsonString(props.exchangeKeys),
        ...(noted === null ? {} : { LEDGER_TABLE: noted.table.tableName }),
      },
    });
    run.grant(actions, [this.table.arn]);
    if (noted !== null) run.grant(['dynamodb:PutItem'], [noted.arn]);
    run.grant(['secretsmanager:GetSecretValue'], Object.values(props.exchangeKeys));
    return run;
  }
}
