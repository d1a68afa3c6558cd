import { Duration, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** @see DECISIONS 21 */
export interface SignalQueueProps {
  /** The longest time its consumer may take for one message. */
  readonly consumerTimeout: Duration;
}

/** The queue of signals, in order for each account and market, and its dead-letter queue. */
export class SignalFifo extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { consumerTimeout }: SignalQueueProps) {
    super(scope, id);
    this.deadLetters = new Queue(this, 'DeadLetters', {
      fifo: true,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // The longest retention SQS has: dead letters stay until the operator redrives them.
      retentionPeriod: Duration.days(14),
    });
    this.queue = new Queue(this, 'Queue', {
      fifo: true,
      // Every message carries its own group and deduplication id; two messages with equal bodies may differ.
      contentBasedDeduplication: false,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // AWS recommends six times the function timeout, so that a
      // throttled poller does not deliver a message twice.
      visibilityTimeout: Duration.seconds(6 * consumerTimeout.toSeconds()),
      retentionPeriod: Duration.days(4),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: 5 },
    });
    Validations.of(this.deadLetters).acknowledge({
      id: 'Serverless-SQSRedrivePolicy',
      reason: 'This queue is the dead-letter queue.',
    });
  }
}
