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
  /** Null: nobody is told; alarms still show on the dashboard. */
  readonly email: string | null;
  /** Where mails end that could not be delivered. */
  readonly undelivered: IQueue;
}

export interface AlarmProps {
  readonly metric: Metric;
  /** The alarm goes off when the metric is above this; 0 when absent. */
  readonly above?: number;
  /** Goes off instead when the metric is below this, or missing, but for the first while of a new alarm. */
  readonly below?: number;
  /** How many periods in a row it must be so; 1 when absent. */
  readonly periods?: number;
  /** One sentence: what is so. */
  readonly meaning: string;
  /** One sentence: what to do now. */
  readonly runbook: string;
}

/** Every alarm of the relay, and the one topic they all go to: when it rings, and when it is over. */
export class AlarmTopic extends Construct {
  readonly topic: Topic;
  readonly alarms: Alarm[] = [];

  constructor(scope: Construct, id: string, { email, undelivered }: AlarmTopicProps) {
    super(scope, id);
    this.topic = new Topic(this, 'Topic', { displayName: 'Trading relay', enforceSSL: true });
    // A topic with a policy of its own loses the one that lets alarms in.
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    if (email === null) warnThatNobodyIsTold(this);
    else this.topic.addSubscription(new EmailSubscription(email, { deadLetterQueue: undelivered }));
  }

  add(id: string, props: AlarmProps): void {
    const isFloor = props.below !== undefined;
    const alarm = new Alarm(this, id, {
      metric: props.metric,
      threshold: props.below ?? props.above ?? 0,
      comparisonOperator: isFloor
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: props.periods ?? 1,
      treatMissingData: isFloor ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      alarmDescription: `${props.meaning}\nRunbook: ${props.runbook}`,
    });
    if (isFloor) letWarmUp(alarm, props);
    const tell = new SnsAction(this.topic);
    alarm.addAlarmAction(tell);
    alarm.addOkAction(tell);
    this.alarms.push(alarm);
  }
}

/** The CDK says it at each synth, diff and deploy. */
function warnThatNobodyIsTold(topic: AlarmTopic): void {
  Annotations.of(topic).addWarningV2(
    'trading-relay:nobody-is-told-of-alarms',
    'NOBODY WILL BE TOLD when an order is lost, refused or left open: alarms ring on the dashboard only. Set aws.alarmEmail in relay.config.ts, deploy, and confirm the mail that AWS sends there.',
  );
}

/** The longest that CloudWatch has, and what it takes to count a first run. */
const warmUpMinutes = { most: 2_880, least: 15 } as const;

/**
 * Silence is a fault, but not before the time has come for a first sound.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-warm-up.html
 */
function letWarmUp(alarm: Alarm, { metric, periods = 1 }: AlarmProps): void {
  const { most, least } = warmUpMinutes;
  const minutes = Math.max(least, Math.min(most, periods * metric.period.toMinutes()));
  (alarm.node.defaultChild as CfnAlarm).warmUpConfiguration = { warmUpPeriodDurationInMinutes: minutes };
}

/** How long a metric is summed up before an alarm looks at it. */
export const alarmPeriod = Duration.minutes(1);
