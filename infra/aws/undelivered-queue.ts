import { Duration, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** Where scheduled runs and alarm mails end that could not be delivered, so that they do not vanish. */
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
        reason: 'It is itself a dead-letter queue, of schedules and of the alarm topic.',
      },
      { id: 'Serverless-SQSRedrivePolicy', reason: 'It is itself a dead-letter queue.' },
    );
  }
}
