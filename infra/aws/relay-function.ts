import { type Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { SubnetType } from 'aws-cdk-lib/aws-ec2';
import { Effect, Policy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
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
import type { FixedAddress } from './fixed-address.ts';

export interface RelayFunctionProps {
  readonly description: string;
  /** The folder that holds its bundle. */
  readonly bundle: string;
  readonly memoryMiB: number;
  readonly timeout: Duration;
  readonly environment: Readonly<Record<string, string>>;
  readonly logRetention: RetentionDays;
  /** Through which network it goes out; null: by the addresses of Lambda, which change. */
  readonly network: FixedAddress | null;
}

/**
 * What Lambda does with the role of a function to connect it to a network. None of these actions can name its resource
 * beforehand.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions
 */
const networkActions = [
  'ec2:CreateNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:DeleteNetworkInterface',
  'ec2:AssignPrivateIpAddresses',
  'ec2:UnassignPrivateIpAddresses',
] as const;

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
    const { network } = props;
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
      ...(network === null
        ? {}
        : {
            vpc: network.vpc,
            vpcSubnets: { subnetType: SubnetType.PRIVATE_WITH_EGRESS },
            securityGroups: [network.securityGroup],
          }),
    });
    acknowledge(this.lambda);
    if (network !== null) this.#allowNetwork();
  }

  /** Lambda itself connects the function to its network, with this role; the code of the function may not. */
  #allowNetwork(): void {
    const rights = { actions: [...networkActions], resources: ['*'] };
    const roles = [this.#role];
    const allowed = new Policy(this, 'Network', { roles, statements: [new PolicyStatement(rights)] });
    Validations.of(allowed).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'The interfaces do not exist yet. A denial keeps the code of the function from these actions.',
    });
    // Lambda checks the role when the function is created.
    this.lambda.node.addDependency(allowed);
    const conditions = { ArnEquals: { 'lambda:SourceFunctionArn': this.lambda.functionArn } };
    const denial = new PolicyStatement({ ...rights, effect: Effect.DENY, conditions });
    const denied = new Policy(this, 'NetworkOfLambdaAlone', { roles, statements: [denial] });
    Validations.of(denied).acknowledge({ id: 'AwsSolutions-IAM5[Resource::*]', reason: 'It denies.' });
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
