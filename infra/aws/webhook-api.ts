import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  ResponseType,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { AnyPrincipal, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { tradingViewAddresses } from '../../lib/host/config.ts';
import { ApiLogRole } from './api-log-role.ts';
import type { RelayFunction } from './relay-function.ts';

/**
 * What is written of each request. Neither its path, which holds the token, nor the gateway's error message, which
 * quotes the path: the route's template and the kind of error say enough.
 */
const accessLogFormat = {
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
};

export interface WebhookApiProps {
  /** Name of the API's stage, the first part of every path. */
  readonly stage: string;
  readonly receiver: RelayFunction;
  /** Addresses and ranges that may call, beside TradingView's. */
  readonly allowedAddresses: readonly string[];
  readonly throttle: Throttle;
  readonly logRetention: RetentionDays;
}

/** How much the API takes, of all callers together. */
export interface Throttle {
  readonly requestsPerSecond: number;
  /** What may come at once. */
  readonly burst: number;
}

/** The door: one route, open to TradingView's addresses and the owner's, and to no others. */
export class WebhookApi extends Construct {
  readonly api: RestApi;
  /** One line of JSON for each request, those turned away by the gateway itself included. */
  readonly accessLog: LogGroup;
  /** URL of the webhooks without account and token, with a slash at the end. */
  readonly webhookUrl: string;

  constructor(scope: Construct, id: string, props: WebhookApiProps) {
    super(scope, id);
    this.accessLog = new LogGroup(this, 'AccessLog', {
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.api = new RestApi(this, 'Api', {
      // Metrics go by the name: two stages must not share one.
      restApiName: this.node.path.replaceAll('/', '-'),
      description: 'Takes TradingView alerts in: POST /signals/{account}/{token}',
      endpointConfiguration: { types: [EndpointType.REGIONAL] },
      policy: createResourcePolicy(props),
      // The function is handed the bytes as they were sent, whatever the sender calls them.
      binaryMediaTypes: ['*/*'],
      cloudWatchRole: false,
      deployOptions: {
        stageName: props.stage,
        throttlingRateLimit: props.throttle.requestsPerSecond,
        throttlingBurstLimit: props.throttle.burst,
        accessLogDestination: new LogGroupLogDestination(this.accessLog),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLogFormat)),
        // Execution logs and traces quote paths, and with them the token.
        loggingLevel: MethodLoggingLevel.OFF,
        dataTraceEnabled: false,
        tracingEnabled: false,
      },
    });
    this.api.deploymentStage.node.addDependency(new ApiLogRole(this, 'ApiLogRole'));
    const route = this.api.root.addResource('signals').addResource('{account}').addResource('{token}');
    route.addMethod('POST', new LambdaIntegration(props.receiver.lambda, { allowTestInvoke: false }));
    // The API would name its URL in an output of its own, beside the one the stack has.
    this.api.node.tryRemoveChild('Endpoint');
    this.webhookUrl = `${this.api.urlForPath('/signals')}/`;
    addErrorAnswers(this.api);
    acknowledge(this.api);
  }
}

/** Allows and so, by silence, denies everybody else. */
function createResourcePolicy({ stage, allowedAddresses }: WebhookApiProps): PolicyDocument {
  return new PolicyDocument({
    statements: [
      new PolicyStatement({
        principals: [new AnyPrincipal()],
        actions: ['execute-api:Invoke'],
        resources: [`execute-api:/${stage}/POST/signals/*/*`],
        conditions: { IpAddress: { 'aws:SourceIp': [...tradingViewAddresses, ...allowedAddresses] } },
      }),
    ],
  });
}

/** The gateway's own refusals, in the words of the function behind it. */
function addErrorAnswers(api: RestApi): void {
  api.addGatewayResponse('NoSuchRoute', {
    type: ResponseType.MISSING_AUTHENTICATION_TOKEN,
    statusCode: '404',
    templates: errorTemplate(
      'not_found',
      'there is nothing here',
      'Post alerts to /signals/{account}/{token}.',
    ),
  });
  api.addGatewayResponse('Throttled', {
    type: ResponseType.THROTTLED,
    // TradingView sends again after a 503, but not after the 429 that this would be.
    statusCode: '503',
    templates: errorTemplate(
      'not_stored',
      'the alert was not stored: too many requests at once',
      'Send the same alert again: it completes what is missing and never doubles an order.',
    ),
  });
}

function errorTemplate(code: string, message: string, hint: string): Record<string, string> {
  return {
    'application/json': JSON.stringify({ error: { code, message, issues: [{ path: '', message, hint }] } }),
  };
}

function acknowledge(api: RestApi): void {
  Validations.of(api).acknowledge(
    {
      id: 'AwsSolutions-APIG2',
      reason:
        'The function checks every body itself and answers what is wrong with it; alerts come with content types the gateway could not validate.',
    },
    {
      id: 'AwsSolutions-APIG3',
      reason:
        'Only TradingView and the addresses of the owner can call, the stage is throttled, and the function takes 16 KiB: a firewall at a monthly price has nothing left to keep out.',
    },
    {
      id: 'AwsSolutions-APIG4',
      reason:
        'TradingView sends no header and no credential but the URL: the function checks the token in it, in constant time.',
    },
    {
      id: 'AwsSolutions-COG4',
      reason: 'The caller is a service that cannot sign in: the function checks the token in the URL.',
    },
    {
      id: 'AwsSolutions-APIG6',
      reason:
        'Execution logs quote the path, and with it the token; the access log has every request without it.',
    },
    {
      id: 'Serverless-APIGWXrayEnabled',
      reason: 'Traces record the URL of a request, and with it the token.',
    },
  );
}
