import { Duration, type RemovalPolicy, SecretValue, TimeZone, Validations } from 'aws-cdk-lib';
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { EventSourceMapping, FilterCriteria, FilterRule, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { type CfnSecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { HostConfig } from '../../lib/host/config.ts';
import { type AlarmTopic, alarmPeriod } from './alarm-topic.ts';
import type { LedgerTable } from './ledger-table.ts';
import { RelayFunction } from './relay-function.ts';
import { RelaySchedule } from './relay-schedule.ts';
import { UndeliveredQueue } from './undelivered-queue.ts';

/** What is told, and where. */
export type StackNotices = HostConfig['notices'];

export interface RelayNoticesProps {
  /** The folder that holds the bundle of send-notices. */
  readonly bundle: string;
  readonly settings: StackNotices;
  /** A table with a stream. */
  readonly ledger: LedgerTable;
  readonly topic: AlarmTopic;
  readonly logRetention: RetentionDays;
  readonly removalPolicy: RemovalPolicy;
  /** Receives the heartbeats that were given up. */
  readonly undelivered: IQueue;
}

/** A request waits for a service for 40 s at most, and the last one takes 10 s. */
const timeout = Duration.minutes(1);
/** No caller waits. */
const memoryMiB = 512;
/** Records that were not told for so long are given up; the stream itself keeps them for a day. */
const longestAge = Duration.hours(6);

/** Everything that tells people what became of their signals: a function behind the ledger's stream, and what opens its channels. */
export class RelayNotices extends Construct {
  readonly send: RelayFunction;
  /** The ARN of the secret with what opens the channels. */
  readonly secretArn: string;
  /** Names the records that were given up. */
  readonly undelivered: UndeliveredQueue;

  constructor(scope: Construct, id: string, props: RelayNoticesProps) {
    super(scope, id);
    this.secretArn = this.#createSecret(props.removalPolicy);
    this.undelivered = new UndeliveredQueue(this, 'Undelivered');
    this.send = this.#createFunction(props);
    this.#connectStream(props.ledger);
    if (hasHeartbeat(props.settings)) this.#schedule(props);
    props.topic.add('NoticesNotTold', {
      metric: this.undelivered.metricApproximateNumberOfMessagesVisible({
        statistic: Stats.MAXIMUM,
        period: alarmPeriod,
      }),
      meaning:
        'Notices were tried for six hours, and no channel took them. What they tell of is in the ledger all the same.',
      runbook:
        'run `npx relay doctor --stack STACK`: it says why each channel failed. Correct it with `npx relay notify set CHANNEL --stack STACK`, then purge the queue of undelivered notices.',
    });
  }

  /** `{}` until the operator says how a channel is reached. */
  #createSecret(removalPolicy: RemovalPolicy): string {
    const secret = new Secret(this, 'Channels', {
      description: 'What opens the channels of the notices',
      secretStringValue: SecretValue.unsafePlainText('{}'),
      removalPolicy,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'Rotation cannot be automated: only the owner can make a new token at each service. `notify set` changes the value, and the function picks it up without a deploy.',
    });
    return (secret.node.defaultChild as CfnSecret).attrId;
  }

  #createFunction({ bundle, settings, ledger, topic, logRetention }: RelayNoticesProps): RelayFunction {
    const mails = settings.channels.includes('email');
    const send = new RelayFunction(this, 'Send', {
      description: 'Trading relay: tells what became of signals',
      bundle,
      memoryMiB,
      timeout,
      logRetention,
      // It asks the exchange nothing.
      network: null,
      environment: {
        LEDGER_TABLE: ledger.table.tableName,
        NOTICE_SECRET: this.secretArn,
        ...(mails ? { ALARM_TOPIC: topic.topic.topicArn } : {}),
      },
    });
    send.grant(
      ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator', 'dynamodb:ListStreams'],
      [ledger.streamArn],
    );
    // What it told, the heartbeat, and fingerprints of what opens the channels.
    send.grant(['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], [ledger.arn]);
    if (hasHeartbeat(settings)) {
      send.grant(['dynamodb:BatchGetItem', 'dynamodb:Query'], [ledger.arn]);
      for (const index of ['by-account', 'by-status'] as const)
        send.grant(['dynamodb:Query'], [ledger.indexArn(index)]);
    }
    send.grant(['secretsmanager:GetSecretValue'], [this.secretArn]);
    if (mails) send.grant(['sns:Publish'], [topic.topic.topicArn]);
    send.grant(['sqs:SendMessage'], [this.undelivered.queueArn]);
    return send;
  }

  /**
   * What is on its way tells nobody anything, nor do counts and copies. The function looks at each record all the same.
   *
   * @see https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html
   */
  #connectStream(ledger: LedgerTable): void {
    const keys = (item: unknown) => FilterCriteria.filter({ dynamodb: { Keys: { item: { S: item } } } });
    new EventSourceMapping(this, 'Changes', {
      target: this.send.lambda,
      eventSourceArn: ledger.streamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 100,
      // A burst becomes one message.
      maxBatchingWindow: Duration.seconds(2),
      maxRecordAge: longestAge,
      onFailure: { bind: () => ({ destination: this.undelivered.queueArn }) },
      filters: [
        FilterCriteria.filter({
          dynamodb: {
            Keys: { item: { S: FilterRule.beginsWith('signal#') } },
            NewImage: { status: { S: FilterRule.notEquals('accepted') } },
          },
        }),
        keys(FilterRule.beginsWith('alarm#')),
        keys(FilterRule.beginsWith('day#')),
        keys(FilterRule.isEqual('pause')),
      ],
    });
  }

  #schedule({ settings, undelivered }: RelayNoticesProps): void {
    const [hour = '8', minute = '0'] = settings.heartbeatAt.split(':').map((part) => String(Number(part)));
    new RelaySchedule(this, 'HeartbeatSchedule', {
      description: 'Tells once a day what was done and what is held',
      expression: ScheduleExpression.cron({ minute, hour, timeZone: TimeZone.of(settings.timeZone) }),
      target: this.send,
      retries: 10,
      maxAge: Duration.hours(6),
      undelivered,
    });
  }
}

function hasHeartbeat({ levels, accounts }: StackNotices): boolean {
  return [levels, ...Object.values(accounts)].some(({ heartbeat = 'off' }) => heartbeat !== 'off');
}
