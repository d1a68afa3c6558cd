import { Duration, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** Keeps the scheduled runs and alarm mails that could not be delivered. */
export class UndeliveredQueue extends Queue {
  constructor(scope: Construct, id: string) {
    super(scope, id, {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    Validations.of(this).acknowledge(
      {
        id: 'AwsSolutions-SQS3',
        reason: 'This queue is the dead-letter queue of the schedules and of the alarm topic.',
      },
      { id: 'Serverless-SQSRedrivePolicy', reason: 'This queue is a dead-letter queue.' },
    );
  }
}
