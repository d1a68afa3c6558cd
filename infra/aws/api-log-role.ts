import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';

/**
 * The role with which API Gateway writes access logs: one for
 * an AWS account and region, named in its settings.
 *
 * Without it, no stage with an access log can be created there. All APIs of the region share the setting. The
 * role is therefore kept when the stack is deleted, and it allows all that AWS lists: a narrower role would
 * stop the logs of other APIs.
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
        'The role serves every API of the account and region, and this stack cannot know the names of their logs. API Gateway refuses a role that lacks one of these actions.',
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
