import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';

/**
 * What lets API Gateway write access logs at all: one role for an account and region, named in its settings.
 *
 * Without it no stage with an access log can be made there. The setting belongs to all APIs of the region, so the role
 * stays when the stack goes, and it allows what AWS lists for it: a narrower one would silence the others' logs.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html
 */
export class ApiLogRole extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      description: 'Lets API Gateway write the logs of all APIs of this account and region',
      inlinePolicies: { logs: createLogPolicy() },
    });
    role.applyRemovalPolicy(RemovalPolicy.RETAIN);
    new CfnAccount(this, 'Settings', { cloudWatchRoleArn: role.roleArn }).applyRemovalPolicy(
      RemovalPolicy.RETAIN,
    );
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason:
        'The role serves every API of the account and region, whose logs have names this stack cannot know; API Gateway refuses a role that lacks one of these actions.',
    });
  }
}

function createLogPolicy(): PolicyDocument {
  return new PolicyDocument({
    statements: [
      new PolicyStatement({
        actions: [
          'logs:CreateLogGroup',
          'logs:CreateLogStream',
          'logs:DescribeLogGroups',
          'logs:DescribeLogStreams',
          'logs:FilterLogEvents',
          'logs:GetLogEvents',
          'logs:PutLogEvents',
        ],
        resources: ['*'],
      }),
    ],
  });
}
