import { type Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

export interface RelayFunctionProps {
  readonly description: string;
  /** The folder that holds its bundle. */
  readonly bundle: string;
  readonly memoryMiB: number;
  readonly timeout: Duration;
  readonly environment: Readonly<Record<string, string>>;
  readonly logRetention: RetentionDays;
}

/**
 * A function with its own role and log group. Until `grant` is
 * called, the role allows writing that log alone.
 */
export class RelayFunction extends Construct {
  readonly lambda: LambdaFunction;
  readonly logGroup: LogGroup;
  readonly timeout: Duration;
  readonly #role: Role;

  constructor(scope: Construct, id: string, props: RelayFunctionProps) {
    super(scope, id);
    this.timeout = props.timeout;
    this.logGroup = new LogGroup(this, 'Log', {
      retention: props.logRetention,
      // The ledger holds everything that must be kept.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // The role the CDK would create carries a managed policy, which grants more than this function needs.
    this.#role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `Role of: ${props.description}`,
    });
    this.grant(['logs:CreateLogStream', 'logs:PutLogEvents'], [this.logGroup.logGroupArn]);
    this.lambda = new LambdaFunction(this, 'Function', {
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(props.bundle),
      handler: 'index.handler',
      memorySize: props.memoryMiB,
      timeout: props.timeout,
      role: this.#role,
      logGroup: this.logGroup,
      loggingFormat: LoggingFormat.JSON,
      // Lambda's own lines about runs that went well would be half of the log. Their number and duration are metrics.
      systemLogLevelV2: SystemLogLevel.WARN,
      environment: props.environment,
    });
    acknowledge(this.lambda);
  }

  /** Allows exactly these actions on exactly these resources. */
  grant(actions: readonly string[], resources: readonly string[]): void {
    this.#role.addToPolicy(new PolicyStatement({ actions: [...actions], resources: [...resources] }));
  }
}

function acknowledge(lambda: LambdaFunction): void {
  Validations.of(lambda).acknowledge(
    {
      id: 'Serverless-LambdaTracing',
      reason:
        'The ledger records every step of a signal with its time. Traces would add start-up time, a permission on "*", and a second store that could hold tokens.',
    },
    {
      id: 'Serverless-LambdaDLQ',
      reason:
        'No event source needs it: receive-signal responds to its caller, the queue of execute-signal has a dead-letter queue, and a failed scheduled run goes to the failure destination of its schedule.',
    },
  );
}
