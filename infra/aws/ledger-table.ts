import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  ProjectionType,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';

const text = (name: string) => ({ name, type: AttributeType.STRING });
const number = (name: string) => ({ name, type: AttributeType.NUMBER });

/** @see DECISIONS 41 */
export type LedgerIndex = 'open-orders' | 'by-time' | 'by-account' | 'by-status' | 'by-look';

/**
 * The ledger: one on-demand table that can be restored to any second of the last 35 days. Nothing notices that it was:
 * docs/aws.md says what must be done before it is used.
 *
 * Deleting the stack keeps the table, because it proves the outcome of every alert. The DynamoDB ledger
 * (lib/ledger) defines its keys and indexes.
 */
export class LedgerTable extends Construct {
  readonly table: TableV2;

  /** @param hasStream whether something follows its changes */
  constructor(scope: Construct, id: string, { hasStream }: { readonly hasStream: boolean }) {
    super(scope, id);
    this.table = new TableV2(this, 'Table', {
      partitionKey: text('account'),
      sortKey: text('item'),
      localSecondaryIndexes: [
        { indexName: 'open-orders', sortKey: text('openOrder'), projectionType: ProjectionType.ALL },
      ],
      globalSecondaryIndexes: [
        {
          indexName: 'by-time',
          partitionKey: text('kind'),
          sortKey: text('place'),
          projectionType: ProjectionType.KEYS_ONLY,
        },
        {
          indexName: 'by-account',
          partitionKey: text('account'),
          sortKey: text('place'),
          projectionType: ProjectionType.KEYS_ONLY,
        },
        {
          indexName: 'by-status',
          partitionKey: text('status'),
          sortKey: text('place'),
          projectionType: ProjectionType.KEYS_ONLY,
        },
        {
          indexName: 'by-look',
          partitionKey: text('status'),
          sortKey: number('lookDueAtMs'),
          projectionType: ProjectionType.KEYS_ONLY,
        },
      ],
      ...(hasStream ? { dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES } : {}),
      billing: Billing.onDemand(),
      // The AWS managed key for DynamoDB: CloudTrail records its use, and no function needs a grant on it.
      encryption: TableEncryptionV2.awsManagedKey(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: 'expiresAt',
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  get arn(): string {
    return this.table.tableArn;
  }

  /** @throws Error when the table has no stream */
  get streamArn(): string {
    const { tableStreamArn } = this.table;
    if (tableStreamArn === undefined) throw new Error('the ledger has no stream');
    return tableStreamArn;
  }

  indexArn(name: LedgerIndex): string {
    return `${this.table.tableArn}/index/${name}`;
  }
}
