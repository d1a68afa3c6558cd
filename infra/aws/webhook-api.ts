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
 * What the access log records of each request. It leaves out the path, which holds the token, and the
 * gateway's error message, which quotes the path. The route's template and the error type are enough.
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

/** @see DECISIONS 39 */
export interface WebhookApiProps {
  /** Name of the API's stage, the first part of every path. */
  readonly stage: string;
  readonly receiver: RelayFunction;
  /** Addresses and ranges that may call, in addition to TradingView's. */
  readonly allowedAddresses: readonly string[];
  readonly throttle: Throttle;
  readonly logRetention: RetentionDays;
}

/** How many requests the API takes from all callers together. */
export interface Throttle {
  readonly requestsPerSecond: number;
  /** How many requests may arrive at once. */
  readonly burst: number;
}

/** The webhook: one route that only TradingView's addresses and the owner's may call. */
export class WebhookApi extends Construct {
  readonly api: RestApi;
  /** One line of JSON for each request, including those that the gateway refuses. */
  readonly accessLog: LogGroup;
  /** URL of the webhook without account and token; ends with a slash. */
  readonly webhookUrl: string;

  constructor(scope: Construct, id: string, props: WebhookApiProps) {
    super(scope, id);
    this.accessLog = new LogGroup(this, 'AccessLog', {
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.api = new RestApi(this, 'Api', {
      // CloudWatch keys the metrics by this name, so two stages must not share it.
      restApiName: this.node.path.replaceAll('/', '-'),
      description: 'Receives TradingView alerts: POST /signals/{account}/{token}',
      endpointConfiguration: { types: [EndpointType.REGIONAL] },
      policy: createResourcePolicy(props),
      // The function gets the bytes as they were sent, whatever the content type.
      binaryMediaTypes: ['*/*'],
      cloudWatchRole: false,
      deployOptions: {
        stageName: props.stage,
        throttlingRateLimit: props.throttle.requestsPerSecond,
        throttlingBurstLimit: props.throttle.burst,
        accessLogDestination: new LogGroupLogDestination(this.accessLog),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLogFormat)),
        // Execution logs and traces contain the path and so the token.
        loggingLevel: MethodLoggingLevel.OFF,
        dataTraceEnabled: false,
        tracingEnabled: false,
      },
    });
    this.api.deploymentStage.node.addDependency(new ApiLogRole(this, 'ApiLogRole'));
    const route = this.api.root.addResource('signals').addResource('{account}').addResource('{token}');
    route.addMethod('POST', new LambdaIntegration(props.receiver.lambda, { allowTestInvoke: false }));
    // The API adds an output with its URL; the stack has its own.
    this.api.node.tryRemoveChild('Endpoint');
    this.webhookUrl = `${this.api.urlForPath('/signals')}/`;
    addErrorResponses(this.api);
    acknowledge(this.api);
  }
}

/** Allows the listed addresses; whatever a resource policy does not allow is denied. */
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

/** Gives the gateway's own errors the format of receive-signal's error responses. */
function addErrorResponses(api: RestApi): void {
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
    // The gateway's default is 429, after which TradingView does
    // not send the alert again; after a 503 it does.
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
        'The function validates every body and reports each issue; alerts arrive with content types that the gateway cannot validate.',
    },
    {
      id: 'AwsSolutions-APIG3',
      reason:
        'Only the addresses of TradingView and of the owner can call, the stage is throttled, and the function accepts 16 KiB at most. A web application firewall costs a monthly fee and would block nothing more.',
    },
    {
      id: 'AwsSolutions-APIG4',
      reason:
        'TradingView can send no credential other than the URL. The function checks the token in the URL in constant time.',
    },
    {
      id: 'AwsSolutions-COG4',
      reason: 'The caller is a service that cannot sign in. The function checks the token in the URL.',
    },
    {
      id: 'AwsSolutions-APIG6',
      reason:
        'Execution logs contain the path and so the token. The access log records every request without it.',
    },
    {
      id: 'Serverless-APIGWXrayEnabled',
      reason: 'Traces record the URL of a request and so the token.',
    },
  );
}
