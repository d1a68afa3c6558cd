import { Aws, type Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { EventInvokeConfig } from 'aws-cdk-lib/aws-lambda';
import {
  ContextAttribute,
  Schedule,
  type ScheduleExpression,
  ScheduleTargetInput,
} from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { RelayFunction } from './relay-function.ts';

export interface RelayScheduleProps {
  readonly description: string;
  /** When, in which time zone. */
  readonly expression: ScheduleExpression;
  readonly target: RelayFunction;
  /** How often a run that failed is tried again. */
  readonly retries: number;
  /** A run that did not succeed by then is given up; at least a minute. */
  readonly maxAge: Duration;
  /** Where runs go that were given up. */
  readonly undelivered: IQueue;
}

/** Runs a function by the clock; what does not run, or fails to its end, is kept. */
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
    role.addToPolicy(
      new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [undelivered.queueArn] }),
    );
    const schedule = new Schedule(this, 'Schedule', {
      description: props.description,
      schedule: props.expression,
      target: new LambdaInvoke(target.lambda, {
        // By itself it would add every version of the function to the role.
        role: role.withoutPolicyUpdates(),
        // The time that the run stands for: the same when it is tried again, or comes twice.
        input: ScheduleTargetInput.fromObject({ slot: ContextAttribute.scheduledTime }),
        retryAttempts: props.retries,
        maxEventAge: props.maxAge,
        deadLetterQueue: undelivered,
      }),
    });
    // The scheduler tries the role when it is made.
    schedule.node.addDependency(role);
    // The scheduler only hands the run over; whether it succeeded is for Lambda to see.
    target.grant(['sqs:SendMessage'], [undelivered.queueArn]);
    new EventInvokeConfig(this, 'Failures', {
      function: target.lambda,
      // Lambda itself tries twice more at most.
      retryAttempts: Math.min(props.retries, 2),
      maxEventAge: props.maxAge,
      onFailure: { bind: () => ({ destination: undelivered.queueArn }) },
    });
  }
}
