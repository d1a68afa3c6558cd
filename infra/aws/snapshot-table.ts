import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';

/**
 * What accounts held, paid and earned: a table apart from the ledger's, because nothing in it ever expires.
 *
 * It outlives the stack: what was not looked at then cannot be looked at again. Keys are those of the snapshots on
 * DynamoDB (lib/snapshots), which need no index.
 */
export class SnapshotTable extends Construct {
  readonly table: TableV2;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.table = new TableV2(this, 'Table', {
      partitionKey: { name: 'account', type: AttributeType.STRING },
      sortKey: { name: 'item', type: AttributeType.STRING },
      billing: Billing.onDemand(),
      // As the ledger: the AWS account's own key for DynamoDB.
      encryption: TableEncryptionV2.awsManagedKey(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  get arn(): string {
    return this.table.tableArn;
  }
}
