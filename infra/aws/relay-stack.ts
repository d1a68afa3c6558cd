import { Annotations, CfnOutput, Duration, Stack, type StackProps, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { type HostConfig, listLimitNotes, listRegionNotes } from '../../lib/host/config.ts';
import { isOnPaper } from '../../lib/host/paper-stage.ts';
import type { Bundles } from './function-names.ts';
import { TradingRelay } from './trading-relay.ts';

export interface RelayStackProps extends StackProps {
  /** For example `prod`: part of the webhook's path, and the value of the tag `stage`. */
  readonly stage: string;
  readonly config: HostConfig;
  /** The functions, bundled with the same configuration. */
  readonly bundles: Bundles;
}

/** At the end of an address. */
const otherPort = /:(?!443\/?$)\d+\/?$/;

/** One relay as a stack. Its outputs are how the CLI finds its resources. */
export class RelayStack extends Stack {
  constructor(scope: Construct, id: string, { stage, config, bundles, ...props }: RelayStackProps) {
    const tags = { application: 'trading-relay', stage };
    super(scope, id, { description: describeStack(stage, config), tags, ...props });
    const { aws, settings, snapshots, notices, exchange } = config;
    if (aws.fixedAddress && otherPort.test(exchange.address))
      throw new Error('aws.fixedAddress lets out port 443 alone, and exchange.address names another port');
    const relay = new TradingRelay(this, 'Relay', {
      bundles,
      stage,
      accounts: Object.keys(settings.accounts),
      allowedAddresses: aws.allowedAddresses,
      alarmEmail: aws.alarmEmail,
      keepWarm: aws.keepWarm,
      fixedAddress: aws.fixedAddress,
      logRetention: aws.logRetentionDays,
      snapshots,
      notices,
      maxSignalAge: Duration.millis(settings.defaultMaxLagMs),
    });
    for (const [name, value] of Object.entries(tags)) Tags.of(this).add(name, value);
    this.#addOutputs(relay);
    warnOfWhatIsNotTraded(this, config);
    // The CDK names a role among what its function waits for, beside using it: said twice, and no harm.
    this.templateOptions.metadata = { 'cfn-lint': { config: { ignore_checks: ['W3005'] } } };
  }

  /** The names are an interface: the CLI reads them. */
  #addOutputs(relay: TradingRelay): void {
    const { api, signals, ledger, snapshots, secrets, receive, execute, alarmTopic } = relay;
    const { notices, network, paper } = relay;
    const outputs: Record<string, readonly [value: string, description: string]> = {
      WebhookUrl: [api.webhookUrl, 'Append {account}/{token} to get the URL of an account'],
      LedgerTable: [ledger.table.tableName, 'Table of the ledger'],
      SnapshotTable: [
        snapshots.table.table.tableName,
        'Table of balances, transfer fees and interest payments',
      ],
      SignalQueue: [signals.queue.queueUrl, 'URL of the queue of signals'],
      DeadLetterQueue: [signals.deadLetters.queueUrl, 'URL of the dead-letter queue of signals'],
      ExchangeKeys: [
        this.toJsonString(secrets.exchangeKeys),
        'ARN of the exchange key secret of each account',
      ],
      WebhookTokens: [
        this.toJsonString(secrets.webhookTokens),
        'ARN of the webhook token secret of each account',
      ],
      AlarmTopic: [alarmTopic.topic.topicArn, 'Topic of all alarms'],
      ReceiveFunction: [receive.lambda.functionName, 'Function receive-signal, behind the webhook'],
      ExecuteFunction: [execute.lambda.functionName, 'Function execute-signal, which sends orders'],
      ...(network === null
        ? {}
        : { FixedAddress: [network.address, 'The address that the exchange sees: bind its keys to it'] }),
      ...(notices === null
        ? {}
        : {
            NoticeSecret: [
              notices.secretArn,
              'ARN of the secret with what opens the channels of the notices',
            ],
          }),
      ...(paper === null
        ? {}
        : { PaperExchange: [paper.url, 'PAPER: URL of the paper exchange that this stack trades on'] }),
    };
    for (const [name, [value, description]] of Object.entries(outputs))
      new CfnOutput(this, name, { value, description });
  }
}

function describeStack(stage: string, config: HostConfig): string {
  return isOnPaper(config)
    ? `Trading relay ON PAPER, stage ${stage}: it trades on an exchange of its own, with play money`
    : `Trading relay, stage ${stage}`;
}

/** The CDK says it at each synth, diff and deploy. */
function warnOfWhatIsNotTraded(stack: RelayStack, config: HostConfig): void {
  const { settings } = config;
  if (isOnPaper(config)) {
    Annotations.of(stack).addWarningV2(
      'trading-relay:paper-stage',
      'PAPER: this stack trades on a paper exchange of its own, with play money. No order reaches a real exchange, whatever relay.config.ts says.',
    );
    return;
  }
  const names = Object.values(settings.accounts).filter(({ mode }) => mode === 'paper');
  if (names.length > 0)
    Annotations.of(stack).addWarningV2(
      'trading-relay:paper-mode',
      `NO ORDER IS SENT for ${names.map(({ name }) => name).join(', ')}: in paper mode a stack rehearses, and every signal ends as dry_run. To trade real money, set mode to 'live' in relay.config.ts, check the limits beside it, and deploy.`,
    );
  for (const note of listRegionNotes(settings))
    Annotations.of(stack).addWarningV2('trading-relay:region', `${note}.`);
  for (const note of listLimitNotes(settings))
    Annotations.of(stack).addWarningV2('trading-relay:limits', `${note}.`);
}
