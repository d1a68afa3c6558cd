import { Annotations, Aws, Duration } from 'aws-cdk-lib';
import {
  Alarm,
  type CfnAlarm,
  ComparisonOperator,
  type Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

export interface AlarmTopicProps {
  /** Null: no mail is sent; alarms show on the dashboard only. */
  readonly email: string | null;
  /** Receives the mails that SNS could not deliver. */
  readonly undelivered: IQueue;
}

export interface AlarmProps {
  readonly metric: Metric;
  /** The alarm goes off when the metric is above this; 0 when absent. */
  readonly above?: number;
  /**
   * The alarm goes off instead when the metric is below this or missing, except while a new alarm warms up.
   */
  readonly below?: number;
  /** The alarm goes off, too, when the metric is missing, except while a new alarm warms up. */
  readonly orMissing?: true;
  /** How many periods in a row the threshold must be crossed; 1 when absent. */
  readonly periods?: number;
  /** What happened, in a sentence or two. */
  readonly meaning: string;
  /** What the operator does now; begins in lower case, after "Runbook: ". */
  readonly runbook: string;
}

/** Every alarm of the relay, and the one topic that is notified when an alarm goes off and when it ends. */
export class AlarmTopic extends Construct {
  readonly topic: Topic;
  readonly alarms: Alarm[] = [];

  constructor(scope: Construct, id: string, { email, undelivered }: AlarmTopicProps) {
    super(scope, id);
    this.topic = new Topic(this, 'Topic', { displayName: 'Trading relay', enforceSSL: true });
    // `enforceSSL` gives the topic a policy, which replaces the default one that lets alarms publish.
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    if (email === null) warnAboutMissingEmail(this);
    else this.topic.addSubscription(new EmailSubscription(email, { deadLetterQueue: undelivered }));
  }

  add(id: string, props: AlarmProps): void {
    const isFloor = props.below !== undefined;
    const isMissingWrong = isFloor || props.orMissing === true;
    const alarm = new Alarm(this, id, {
      metric: props.metric,
      threshold: props.below ?? props.above ?? 0,
      comparisonOperator: isFloor
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: props.periods ?? 1,
      treatMissingData: isMissingWrong ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      alarmDescription: `${props.meaning}\nRunbook: ${props.runbook}`,
    });
    if (isMissingWrong) letWarmUp(alarm, props);
    const notify = new SnsAction(this.topic);
    alarm.addAlarmAction(notify);
    alarm.addOkAction(notify);
    this.alarms.push(alarm);
  }
}

/** The CDK prints it at each synth, diff and deploy. */
function warnAboutMissingEmail(topic: AlarmTopic): void {
  Annotations.of(topic).addWarningV2(
    'trading-relay:nobody-is-told-of-alarms',
    'NO ALARM WILL BE MAILED when an order is lost, refused or left open: alarms show on the dashboard only. Set aws.alarmEmail in relay.config.ts, deploy, and confirm the mail that AWS sends there.',
  );
}

/** In minutes. The most is CloudWatch's own maximum; the least leaves time for a first run to be counted. */
const warmUpMinutes = { most: 2_880, least: 15 } as const;

/**
 * Keeps a new alarm quiet until its first full evaluation:
 * without a warm-up, missing data would set it off at once.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-warm-up.html
 */
function letWarmUp(alarm: Alarm, { metric, periods = 1 }: AlarmProps): void {
  const { most, least } = warmUpMinutes;
  const minutes = Math.max(least, Math.min(most, periods * metric.period.toMinutes()));
  (alarm.node.defaultChild as CfnAlarm).warmUpConfiguration = { warmUpPeriodDurationInMinutes: minutes };
}

/** The period over which a metric is summed before an alarm evaluates it. */
export const alarmPeriod = Duration.minutes(1);
