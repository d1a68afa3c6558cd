import type { Requirement } from './template-checks.ts';

const attribute = (id: string, name: string) => ({ 'Fn::GetAtt': [id, name] });
const reference = (id: string) => ({ Ref: id });
const retained = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };

function logGroup(id: string): Requirement {
  return { id, type: 'AWS::Logs::LogGroup', body: { Properties: { RetentionInDays: 30 } } };
}

/** Nothing goes in or out without TLS. */
function tlsOnly(queue: string): Requirement {
  return {
    id: `${queue}Policy`,
    type: 'AWS::SQS::QueuePolicy',
    body: {
      Properties: {
        PolicyDocument: {
          Statement: [
            {
              Action: 'sqs:*',
              Condition: { Bool: { 'aws:SecureTransport': 'false' } },
              Effect: 'Deny',
              Principal: { AWS: '*' },
              Resource: attribute(queue, 'Arn'),
            },
          ],
        },
        Queues: [reference(queue)],
      },
    },
  };
}

function relayFunction(
  name: string,
  properties: {
    readonly MemorySize: number;
    readonly Timeout: number;
    readonly variables: readonly string[];
  },
): Requirement {
  const { variables, ...numbers } = properties;
  const known: Record<string, unknown> = {
    LEDGER_TABLE: reference('RelayLedgerTable'),
    SNAPSHOT_TABLE: reference('RelaySnapshotsTable'),
    SIGNAL_QUEUE_URL: reference('RelaySignalsQueue'),
    WEBHOOK_TOKENS: secretMap('RelaySecretsWebhookToken'),
    EXCHANGE_KEYS: secretMap('RelaySecretsExchangeKey'),
    STACK_NAME: 'trading-relay-prod',
  };
  return {
    id: `Relay${name}Function`,
    type: 'AWS::Lambda::Function',
    body: {
      Properties: {
        ...numbers,
        Architectures: ['arm64'],
        Runtime: 'nodejs24.x',
        Handler: 'index.handler',
        LoggingConfig: { LogFormat: 'JSON', SystemLogLevel: 'WARN', LogGroup: reference(`Relay${name}Log`) },
        Role: attribute(`Relay${name}Role`, 'Arn'),
        Environment: { Variables: Object.fromEntries(variables.map((key) => [key, known[key]])) },
      },
    },
  };
}

interface ScheduleFacts {
  /** The logical id of the schedule. */
  readonly schedule: string;
  /** The logical id of its function, without the `Function` at the end. */
  readonly target: string;
  readonly expression: string;
  readonly timeZone: string;
  readonly maxAgeSeconds: number;
  readonly retries: number;
}

/** The schedule, the destination of failed runs, and the service that may use its role. */
function schedule(facts: ScheduleFacts): readonly Requirement[] {
  const functionId = `${facts.target}Function`;
  return [
    {
      id: facts.schedule,
      type: 'AWS::Scheduler::Schedule',
      body: {
        Properties: {
          ScheduleExpression: facts.expression,
          ScheduleExpressionTimezone: facts.timeZone,
          State: 'ENABLED',
          FlexibleTimeWindow: { Mode: 'OFF' },
          Target: {
            Arn: attribute(functionId, 'Arn'),
            RoleArn: attribute(`${facts.schedule}Role`, 'Arn'),
            DeadLetterConfig: { Arn: attribute('RelayUndelivered', 'Arn') },
            Input: '{"slot":"<aws.scheduler.scheduled-time>"}',
            RetryPolicy: {
              MaximumEventAgeInSeconds: facts.maxAgeSeconds,
              MaximumRetryAttempts: facts.retries,
            },
          },
        },
      },
    },
    {
      id: `${facts.schedule}Failures`,
      type: 'AWS::Lambda::EventInvokeConfig',
      body: {
        Properties: {
          FunctionName: reference(functionId),
          MaximumEventAgeInSeconds: facts.maxAgeSeconds,
          MaximumRetryAttempts: 2,
          DestinationConfig: { OnFailure: { Destination: attribute('RelayUndelivered', 'Arn') } },
        },
      },
    },
    {
      id: `${facts.schedule}Role`,
      type: 'AWS::IAM::Role',
      body: {
        Properties: { AssumeRolePolicyDocument: { Statement: [assumedByDefaultGroup] } },
      },
    },
  ];
}

/** The schedule that keeps a function warm, what becomes of a failed call (nothing), and the service that may use its role. */
function warmSchedule(name: string): readonly Requirement[] {
  const functionId = `Relay${name}Function`;
  const id = `RelayKeepWarm${name}`;
  return [
    {
      id: `${id}Schedule`,
      type: 'AWS::Scheduler::Schedule',
      body: {
        Properties: {
          ScheduleExpression: 'rate(3 minutes)',
          State: 'ENABLED',
          FlexibleTimeWindow: { Mode: 'FLEXIBLE', MaximumWindowInMinutes: 1 },
          Target: {
            Arn: attribute(functionId, 'Arn'),
            RoleArn: attribute(`${id}Role`, 'Arn'),
            Input: '{"keepWarm":true}',
            RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 },
          },
        },
      },
    },
    {
      id: `${id}Failures`,
      type: 'AWS::Lambda::EventInvokeConfig',
      body: {
        Properties: {
          FunctionName: reference(functionId),
          MaximumEventAgeInSeconds: 60,
          MaximumRetryAttempts: 0,
        },
      },
    },
    {
      id: `${id}Role`,
      type: 'AWS::IAM::Role',
      body: {
        Properties: { AssumeRolePolicyDocument: { Statement: [assumedByDefaultGroup] } },
      },
    },
  ];
}

const assumedByDefaultGroup = {
  Action: 'sts:AssumeRole',
  Condition: {
    StringEquals: {
      'aws:SourceAccount': reference('AWS::AccountId'),
      'aws:SourceArn': {
        'Fn::Join': [
          '',
          [
            'arn:',
            reference('AWS::Partition'),
            ':scheduler:',
            reference('AWS::Region'),
            ':',
            reference('AWS::AccountId'),
            ':schedule-group/default',
          ],
        ],
      },
    },
  },
  Effect: 'Allow',
  Principal: { Service: 'scheduler.amazonaws.com' },
};

function secretMap(prefix: string) {
  const idOf = (account: string) => attribute(`${prefix}${account}`, 'Id');
  return { 'Fn::Join': ['', ['{"main":"', idOf('main'), '","rehearsal":"', idOf('rehearsal'), '"}']] };
}

function tokenSecret(account: string): Requirement {
  return {
    id: `RelaySecretsWebhookToken${account}`,
    type: 'AWS::SecretsManager::Secret',
    body: {
      DeletionPolicy: 'Delete',
      Properties: {
        GenerateSecretString: {
          ExcludePunctuation: true,
          GenerateStringKey: 'current',
          PasswordLength: 32,
          SecretStringTemplate: '{"previous":null}',
        },
      },
    },
  };
}

function keySecret(account: string): Requirement {
  return {
    id: `RelaySecretsExchangeKey${account}`,
    type: 'AWS::SecretsManager::Secret',
    body: { DeletionPolicy: 'Delete', Properties: { SecretString: '{"apiKey":"","apiSecret":""}' } },
  };
}

/**
 * By subject, what the template of `infraConfig` must contain;
 * a test proves that no removed value goes unnoticed.
 */
export const requirements: Readonly<Record<string, readonly Requirement[]>> = {
  'The webhook': [
    {
      id: 'RelayWebhookApi',
      type: 'AWS::ApiGateway::RestApi',
      body: {
        Properties: {
          Name: 'trading-relay-prod-Relay-Webhook',
          BinaryMediaTypes: ['*/*'],
          EndpointConfiguration: { Types: ['REGIONAL'] },
          Policy: {
            Statement: [
              {
                Action: 'execute-api:Invoke',
                Condition: {
                  IpAddress: {
                    'aws:SourceIp': [
                      '52.89.214.238',
                      '34.212.75.30',
                      '54.218.53.128',
                      '52.32.178.7',
                      '203.0.113.7',
                      '198.51.100.0/24',
                    ],
                  },
                },
                Effect: 'Allow',
                Principal: { AWS: '*' },
                Resource: 'execute-api:/prod/POST/signals/*/*',
              },
            ],
          },
        },
      },
    },
    {
      id: 'RelayWebhookApiDeploymentStageprod',
      type: 'AWS::ApiGateway::Stage',
      body: {
        Properties: {
          StageName: 'prod',
          TracingEnabled: false,
          MethodSettings: [
            {
              HttpMethod: '*',
              ResourcePath: '/*',
              DataTraceEnabled: false,
              LoggingLevel: 'OFF',
              ThrottlingRateLimit: 10,
              ThrottlingBurstLimit: 50,
            },
          ],
          AccessLogSetting: {
            Format: JSON.stringify({
              requestId: '$context.requestId',
              requestTime: '$context.requestTime',
              sourceIp: '$context.identity.sourceIp',
              httpMethod: '$context.httpMethod',
              resourcePath: '$context.resourcePath',
              status: '$context.status',
              errorType: '$context.error.responseType',
              integrationStatus: '$context.integration.status',
              responseLatencyMs: '$context.responseLatency',
              responseLength: '$context.responseLength',
            }),
          },
        },
      },
    },
    {
      id: 'RelayWebhookApisignalsaccounttokenPOST',
      type: 'AWS::ApiGateway::Method',
      body: {
        Properties: {
          HttpMethod: 'POST',
          AuthorizationType: 'NONE',
          Integration: { IntegrationHttpMethod: 'POST', Type: 'AWS_PROXY' },
          ResourceId: reference('RelayWebhookApisignalsaccounttoken'),
          RestApiId: reference('RelayWebhookApi'),
        },
      },
    },
    {
      id: 'RelayWebhookApiThrottled',
      type: 'AWS::ApiGateway::GatewayResponse',
      body: { Properties: { ResponseType: 'THROTTLED', StatusCode: '503' } },
    },
    {
      id: 'RelayWebhookApiNoSuchRoute',
      type: 'AWS::ApiGateway::GatewayResponse',
      body: { Properties: { ResponseType: 'MISSING_AUTHENTICATION_TOKEN', StatusCode: '404' } },
    },
    {
      id: 'RelayWebhookApiLogRoleSettings',
      type: 'AWS::ApiGateway::Account',
      body: { ...retained, Properties: { CloudWatchRoleArn: attribute('RelayWebhookApiLogRole', 'Arn') } },
    },
    { id: 'RelayWebhookApiLogRole', type: 'AWS::IAM::Role', body: retained },
    logGroup('RelayWebhookAccessLog'),
  ],

  'The functions': [
    relayFunction('Receive', {
      MemorySize: 512,
      Timeout: 10,
      variables: ['LEDGER_TABLE', 'SIGNAL_QUEUE_URL', 'WEBHOOK_TOKENS'],
    }),
    relayFunction('Execute', {
      MemorySize: 512,
      Timeout: 30,
      variables: ['LEDGER_TABLE', 'SIGNAL_QUEUE_URL', 'EXCHANGE_KEYS'],
    }),
    relayFunction('Reconcile', {
      MemorySize: 512,
      Timeout: 50,
      variables: ['LEDGER_TABLE', 'SIGNAL_QUEUE_URL', 'EXCHANGE_KEYS', 'STACK_NAME'],
    }),
    relayFunction('SnapshotsBalances', {
      MemorySize: 512,
      Timeout: 60,
      variables: ['SNAPSHOT_TABLE', 'EXCHANGE_KEYS'],
    }),
    relayFunction('SnapshotsFees', {
      MemorySize: 512,
      Timeout: 60,
      variables: ['SNAPSHOT_TABLE', 'EXCHANGE_KEYS'],
    }),
    relayFunction('SnapshotsInterest', {
      MemorySize: 512,
      Timeout: 900,
      variables: ['SNAPSHOT_TABLE', 'EXCHANGE_KEYS'],
    }),
    logGroup('RelayReceiveLog'),
    logGroup('RelayExecuteLog'),
    logGroup('RelayReconcileLog'),
    logGroup('RelaySnapshotsBalancesLog'),
    logGroup('RelaySnapshotsFeesLog'),
    logGroup('RelaySnapshotsInterestLog'),
  ],

  'The queue': [
    {
      id: 'RelaySignalsQueue',
      type: 'AWS::SQS::Queue',
      body: {
        Properties: {
          FifoQueue: true,
          ContentBasedDeduplication: false,
          SqsManagedSseEnabled: true,
          // Six times the 30 s of its consumer.
          VisibilityTimeout: 180,
          MessageRetentionPeriod: 345_600,
          RedrivePolicy: {
            deadLetterTargetArn: attribute('RelaySignalsDeadLetters', 'Arn'),
            maxReceiveCount: 5,
          },
        },
      },
    },
    {
      id: 'RelaySignalsDeadLetters',
      type: 'AWS::SQS::Queue',
      body: {
        Properties: { FifoQueue: true, SqsManagedSseEnabled: true, MessageRetentionPeriod: 1_209_600 },
      },
    },
    {
      id: 'RelayUndelivered',
      type: 'AWS::SQS::Queue',
      body: { Properties: { SqsManagedSseEnabled: true, MessageRetentionPeriod: 1_209_600 } },
    },
    tlsOnly('RelaySignalsQueue'),
    tlsOnly('RelaySignalsDeadLetters'),
    {
      id: 'RelaySignalsToExecute',
      type: 'AWS::Lambda::EventSourceMapping',
      body: {
        Properties: {
          BatchSize: 1,
          EventSourceArn: attribute('RelaySignalsQueue', 'Arn'),
          FunctionName: reference('RelayExecuteFunction'),
          FunctionResponseTypes: ['ReportBatchItemFailures'],
        },
      },
    },
  ],

  'The ledger': [
    {
      id: 'RelayLedgerTable',
      type: 'AWS::DynamoDB::GlobalTable',
      body: {
        ...retained,
        Properties: {
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [
            { AttributeName: 'account', AttributeType: 'S' },
            { AttributeName: 'item', AttributeType: 'S' },
            { AttributeName: 'kind', AttributeType: 'S' },
            { AttributeName: 'place', AttributeType: 'S' },
            { AttributeName: 'status', AttributeType: 'S' },
            { AttributeName: 'lookDueAtMs', AttributeType: 'N' },
            { AttributeName: 'openOrder', AttributeType: 'S' },
          ],
          KeySchema: [
            { AttributeName: 'account', KeyType: 'HASH' },
            { AttributeName: 'item', KeyType: 'RANGE' },
          ],
          LocalSecondaryIndexes: [
            {
              IndexName: 'open-orders',
              KeySchema: [
                { AttributeName: 'account', KeyType: 'HASH' },
                { AttributeName: 'openOrder', KeyType: 'RANGE' },
              ],
              Projection: { ProjectionType: 'ALL' },
            },
          ],
          GlobalSecondaryIndexes: [
            {
              IndexName: 'by-time',
              KeySchema: [
                { AttributeName: 'kind', KeyType: 'HASH' },
                { AttributeName: 'place', KeyType: 'RANGE' },
              ],
              Projection: { ProjectionType: 'KEYS_ONLY' },
            },
            {
              IndexName: 'by-account',
              KeySchema: [
                { AttributeName: 'account', KeyType: 'HASH' },
                { AttributeName: 'place', KeyType: 'RANGE' },
              ],
              Projection: { ProjectionType: 'KEYS_ONLY' },
            },
            {
              IndexName: 'by-status',
              KeySchema: [
                { AttributeName: 'status', KeyType: 'HASH' },
                { AttributeName: 'place', KeyType: 'RANGE' },
              ],
              Projection: { ProjectionType: 'KEYS_ONLY' },
            },
            {
              IndexName: 'by-look',
              KeySchema: [
                { AttributeName: 'status', KeyType: 'HASH' },
                { AttributeName: 'lookDueAtMs', KeyType: 'RANGE' },
              ],
              Projection: { ProjectionType: 'KEYS_ONLY' },
            },
          ],
          Replicas: [
            {
              DeletionProtectionEnabled: true,
              PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
              Region: reference('AWS::Region'),
            },
          ],
          SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
          TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
        },
      },
    },
  ],

  'The snapshots': [
    {
      id: 'RelaySnapshotsTable',
      type: 'AWS::DynamoDB::GlobalTable',
      body: {
        ...retained,
        Properties: {
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [
            { AttributeName: 'account', AttributeType: 'S' },
            { AttributeName: 'item', AttributeType: 'S' },
          ],
          KeySchema: [
            { AttributeName: 'account', KeyType: 'HASH' },
            { AttributeName: 'item', KeyType: 'RANGE' },
          ],
          Replicas: [
            {
              DeletionProtectionEnabled: true,
              PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
              Region: reference('AWS::Region'),
            },
          ],
          SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
        },
      },
    },
  ],

  'The secrets': [tokenSecret('main'), tokenSecret('rehearsal'), keySecret('main'), keySecret('rehearsal')],

  'The schedule of the reconciler': schedule({
    schedule: 'RelayReconcileSchedule',
    target: 'RelayReconcile',
    expression: 'cron(* * * * ? *)',
    timeZone: 'Etc/UTC',
    maxAgeSeconds: 60,
    retries: 2,
  }),
  'The calls that keep a function warm': [...warmSchedule('Receive'), ...warmSchedule('Execute')],
  'The schedule of balances': schedule({
    schedule: 'RelaySnapshotsBalancesSchedule',
    target: 'RelaySnapshotsBalances',
    expression: 'cron(0/30 * * * ? *)',
    timeZone: 'Europe/Kyiv',
    maxAgeSeconds: 900,
    retries: 10,
  }),
  'The schedule of fees': schedule({
    schedule: 'RelaySnapshotsFeesSchedule',
    target: 'RelaySnapshotsFees',
    expression: 'cron(10 6 ? * MON-FRI *)',
    timeZone: 'Europe/Kyiv',
    maxAgeSeconds: 21_600,
    retries: 10,
  }),
  'The schedule of interest': schedule({
    schedule: 'RelaySnapshotsInterestSchedule',
    target: 'RelaySnapshotsInterest',
    expression: 'cron(20 6 * * ? *)',
    timeZone: 'Europe/Kyiv',
    maxAgeSeconds: 21_600,
    retries: 10,
  }),

  'The alarm topic': [
    {
      id: 'RelayAlarmsTopicPolicy',
      type: 'AWS::SNS::TopicPolicy',
      body: {
        Properties: {
          PolicyDocument: {
            Statement: [
              {
                Action: 'sns:Publish',
                Condition: { Bool: { 'aws:SecureTransport': 'false' } },
                Effect: 'Deny',
                Principal: '*',
                Resource: reference('RelayAlarmsTopic'),
              },
              {
                Action: 'sns:Publish',
                Condition: { StringEquals: { 'aws:SourceAccount': reference('AWS::AccountId') } },
                Effect: 'Allow',
                Principal: { Service: 'cloudwatch.amazonaws.com' },
                Resource: reference('RelayAlarmsTopic'),
              },
            ],
          },
        },
      },
    },
    {
      id: 'RelayAlarmsTopicownerrelayexample',
      type: 'AWS::SNS::Subscription',
      body: {
        Properties: {
          Endpoint: 'owner@relay.example',
          Protocol: 'email',
          TopicArn: reference('RelayAlarmsTopic'),
          RedrivePolicy: { deadLetterTargetArn: attribute('RelayUndelivered', 'Arn') },
        },
      },
    },
  ],
};
