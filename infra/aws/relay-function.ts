import { type Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

export interface RelayFunctionProps {
  readonly description: string;
  /** The folder of its bundle. */
  readonly bundle: string;
  readonly memoryMiB: number;
  readonly timeout: Duration;
  readonly environment: Readonly<Record<string, string>>;
  readonly logRetention: RetentionDays;
}

/** A function with a role and a log of its own; it may write that log and nothing else until granted more. */
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
      // What must be kept is in the ledger.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // A role of our own, because the one a function gets by itself carries a managed policy.
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
        'The ledger has every step of a signal with its time. Traces would add start-up time, a permission on "*", and a place that keeps what must not be kept.',
    },
    {
      id: 'Serverless-LambdaDLQ',
      reason:
        'The door answers its caller and the executor its queue, which has dead letters; a scheduled run that fails goes to the failure destination of its schedule.',
    },
  );
}
