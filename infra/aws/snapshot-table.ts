import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';

/**
 * The table of balances, transfer fees and interest payments. It is separate from the ledger's, because
 * nothing in it expires.
 *
 * Deleting the stack keeps the table: past balances cannot be read from the exchange again. The DynamoDB
 * snapshot store (lib/snapshots) defines its keys and needs no index.
 */
export class SnapshotTable extends Construct {
  readonly table: TableV2;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.table = new TableV2(this, 'Table', {
      partitionKey: { name: 'account', type: AttributeType.STRING },
      sortKey: { name: 'item', type: AttributeType.STRING },
      billing: Billing.onDemand(),
      // The AWS managed key for DynamoDB, as for the ledger.
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
