import { Aws, type Duration, Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { EventInvokeConfig } from 'aws-cdk-lib/aws-lambda';
import {
  ContextAttribute,
  Schedule,
  type ScheduleExpression,
  ScheduleTargetInput,
  TimeWindow,
} from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { RelayFunction } from './relay-function.ts';

export interface RelayScheduleProps {
  readonly description: string;
  /** The times, and their time zone. */
  readonly expression: ScheduleExpression;
  readonly target: RelayFunction;
  /** How often a failed run is retried. */
  readonly retries: number;
  /** A run that has not succeeded after this time is given up; at least a minute. */
  readonly maxAge: Duration;
  /** Receives the runs that were given up; null: nobody needs to know of them. */
  readonly undelivered: IQueue | null;
  /**
   * What the function is called with.
   * @default - the scheduled time of the run, as `slot`: a retry or a duplicate carries the same
   */
  readonly input?: ScheduleTargetInput;
  /**
   * A run starts at any time within this window.
   * @default - at the times of the expression
   */
  readonly window?: Duration;
}

/**
 * Runs a function on a schedule; a run that could not start or
 * failed in all retries goes to the undelivered queue.
 */
export class RelaySchedule extends Construct {
  constructor(scope: Construct, id: string, props: RelayScheduleProps) {
    super(scope, id);
    const { target, undelivered } = props;
    const role = new Role(this, 'Role', {
      description: `Role of: ${props.description}`,
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: {
          StringEquals: {
            'aws:SourceAccount': Aws.ACCOUNT_ID,
            'aws:SourceArn': Stack.of(this).formatArn({
              service: 'scheduler',
              resource: 'schedule-group',
              resourceName: 'default',
            }),
          },
        },
      }),
    });
    role.addToPolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [target.lambda.functionArn] }),
    );
    if (undelivered !== null)
      role.addToPolicy(
        new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [undelivered.queueArn] }),
      );
    const schedule = new Schedule(this, 'Schedule', {
      description: props.description,
      schedule: props.expression,
      ...(props.window === undefined ? {} : { timeWindow: TimeWindow.flexible(props.window) }),
      target: new LambdaInvoke(target.lambda, {
        // The CDK would add a grant on every version of the function.
        role: role.withoutPolicyUpdates(),
        input: props.input ?? ScheduleTargetInput.fromObject({ slot: ContextAttribute.scheduledTime }),
        retryAttempts: props.retries,
        maxEventAge: props.maxAge,
        ...(undelivered === null ? {} : { deadLetterQueue: undelivered }),
      }),
    });
    // EventBridge Scheduler checks the role when the schedule is created.
    schedule.node.addDependency(role);
    // The scheduler invokes asynchronously and sees no failure of the run: Lambda retries and reports it.
    if (undelivered !== null) target.grant(['sqs:SendMessage'], [undelivered.queueArn]);
    const failures = new EventInvokeConfig(this, 'Failures', {
      function: target.lambda,
      // Lambda retries twice at most.
      retryAttempts: Math.min(props.retries, 2),
      maxEventAge: props.maxAge,
      ...(undelivered === null ? {} : { onFailure: { bind: () => ({ destination: undelivered.queueArn }) } }),
    });
    if (undelivered === null)
      Validations.of(failures).acknowledge({
        id: 'Serverless-LambdaAsyncFailureDestination',
        reason: 'Nothing is lost with a run that nobody needs to know of.',
      });
  }
}
