import { type RemovalPolicy, SecretValue, Validations } from 'aws-cdk-lib';
import { type CfnSecret, Secret, type SecretProps } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';

/** Account → the ARN of its secret. */
export type SecretArns = Readonly<Record<string, string>>;

export interface AccountSecretsProps {
  readonly accounts: readonly string[];
  readonly removalPolicy: RemovalPolicy;
  /** Whether each account gets a key of the stack's own paper exchange. */
  readonly onPaper: boolean;
}

/**
 * Two secrets for each account, one for the webhook token and one for the exchange key, because different
 * functions read them.
 *
 * The operator changes the values later (`keys set`, `token rotate`). CloudFormation does not overwrite them
 * while the properties below stay the same. The AWS managed key for Secrets Manager encrypts them: a customer
 * managed key would cost a dollar a month and be granted to the same functions.
 */
export class AccountSecrets extends Construct {
  /** `{"current": token, "previous": null | {"token", "validUntilMs"}}` */
  readonly webhookTokens: SecretArns;
  /** `{"apiKey": "", "apiSecret": ""}` until the operator stores a key; on paper, a key that only this stack knows. */
  readonly exchangeKeys: SecretArns;

  constructor(scope: Construct, id: string, { accounts, removalPolicy, onPaper }: AccountSecretsProps) {
    super(scope, id);
    this.webhookTokens = this.#createForEach(accounts, 'WebhookToken', (account) => ({
      description: `Token in the webhook URL of account ${account}`,
      generateSecretString: {
        secretStringTemplate: JSON.stringify({ previous: null }),
        generateStringKey: 'current',
        // The token is part of a URL.
        excludePunctuation: true,
        passwordLength: 32,
      },
      removalPolicy,
    }));
    this.exchangeKeys = this.#createForEach(accounts, 'ExchangeKey', (account) => ({
      ...(onPaper ? createPaperKey(account) : emptyKey(account)),
      removalPolicy,
    }));
  }

  #createForEach(
    accounts: readonly string[],
    kind: string,
    propsOf: (account: string) => SecretProps,
  ): SecretArns {
    return Object.fromEntries(
      accounts.map((account) => {
        const secret = new Secret(this, `${kind}-${account}`, propsOf(account));
        Validations.of(secret).acknowledge({
          id: 'AwsSolutions-SMG4',
          reason:
            'Rotation cannot be automated: only the owner can create a new exchange key or put a new URL into TradingView. `keys set` and `token rotate` change the value, and the functions pick it up without a deploy.',
        });
        return [account, (secret.node.defaultChild as CfnSecret).attrId];
      }),
    );
  }
}

function emptyKey(account: string): SecretProps {
  return {
    description: `Exchange key of account ${account}`,
    secretObjectValue: {
      apiKey: SecretValue.unsafePlainText(''),
      apiSecret: SecretValue.unsafePlainText(''),
    },
  };
}

function createPaperKey(account: string): SecretProps {
  return {
    description: `Paper key of account ${account}`,
    generateSecretString: {
      secretStringTemplate: JSON.stringify({ apiKey: `paper-${account}` }),
      generateStringKey: 'apiSecret',
      excludePunctuation: true,
      passwordLength: 32,
    },
  };
}
