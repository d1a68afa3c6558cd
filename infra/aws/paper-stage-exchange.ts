import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AttributeType, Billing, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { SecretArns } from './account-secrets.ts';
import { RelayFunction } from './relay-function.ts';

export interface PaperStageExchangeProps {
  /** The folder that holds its bundle. */
  readonly bundle: string;
  /** The keys that it accepts, of each account. */
  readonly exchangeKeys: SecretArns;
  readonly logRetention: RetentionDays;
}

/** An order waits ten seconds for its exchange. */
const timeout = Duration.seconds(10);

/**
 * The paper exchange of a paper stage: a function behind a URL of its own, with its orders, balances and positions in a
 * table. Deleting the stack deletes both: nothing of it is worth money.
 *
 * The table makes an order outlive the environment that took it, and lets Lambda run several: with a reserved concurrency of
 * one, the second of two requests would be turned away, and new AWS accounts may reserve none.
 */
export class PaperStageExchange extends Construct {
  /** Ends with a slash. */
  readonly url: string;

  constructor(scope: Construct, id: string, { bundle, exchangeKeys, logRetention }: PaperStageExchangeProps) {
    super(scope, id);
    const table = new TableV2(this, 'Table', {
      partitionKey: { name: 'account', type: AttributeType.STRING },
      sortKey: { name: 'item', type: AttributeType.STRING },
      billing: Billing.onDemand(),
      encryption: TableEncryptionV2.awsManagedKey(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const exchange = new RelayFunction(this, 'Exchange', {
      description: 'Trading relay: the paper exchange',
      bundle,
      memoryMiB: 512,
      timeout,
      logRetention,
      network: null,
      environment: {
        PAPER_TABLE: table.tableName,
        EXCHANGE_KEYS: Stack.of(this).toJsonString(exchangeKeys),
      },
    });
    exchange.grant(['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query'], [table.tableArn]);
    exchange.grant(['secretsmanager:GetSecretValue'], Object.values(exchangeKeys));
    // Whoever has no key reads prices at most: like the real one, it checks the signature of everything else.
    this.url = exchange.lambda.addFunctionUrl({ authType: FunctionUrlAuthType.NONE }).url;
  }
}
