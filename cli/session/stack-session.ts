import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import type { AwsAccess } from '../../lib/base/aws-client.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { createDynamodbClient } from '../../lib/base/dynamodb.ts';
import { RelayError } from '../../lib/base/errors.ts';
import { readJson } from '../../lib/base/json.ts';
import { createTransport } from '../../lib/base/transport.ts';
import { baseUrlOf, type Dialect } from '../../lib/exchange/dialect.ts';
import type { HostConfig } from '../../lib/host/config.ts';
import { createExchangeClients, type ExchangeClients } from '../../lib/host/exchange-clients.ts';
import { checkPaperUrl, onPaper } from '../../lib/host/paper-stage.ts';
import { storeFingerprints } from '../../lib/host/secret-fingerprints.ts';
import { createDynamodbAccountFacts } from '../../lib/ledger/dynamodb-account-facts.ts';
import { createDynamodbExecutions } from '../../lib/ledger/dynamodb-executions.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import type { Account } from '../../lib/model/account.ts';
import { createSqsClient } from '../../lib/queue/sqs.ts';
import { createSqsDeadLetters } from '../../lib/queue/sqs-dead-letters.ts';
import { createDynamodbSnapshots } from '../../lib/snapshots/dynamodb-snapshots.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import type { LocalResponse } from './http.ts';
import { type ExchangeLocation, kindOfAddress, type Session, webhookUrlOf } from './session.ts';
import { readStackOutputs, type StackOutputs } from './stack.ts';
import { accessNotices } from './stack-notices.ts';
import { listStackParts } from './stack-parts.ts';
import { createStackSecrets } from './stack-secrets.ts';

/**
 * A session with the relay of one CloudFormation stack, using the operator's own AWS credentials.
 *
 * @param region undefined: from the environment or the profile
 * @throws CommandFailure when there is no such stack
 */
export async function openStackSession(
  stackName: string,
  region: string | undefined,
  configured: HostConfig,
): Promise<Session> {
  const options = region === undefined ? {} : { region };
  const outputs = await readStackOutputs(stackName, options);
  // The stack decides, not the configuration of this machine: its orders are nowhere else.
  const host = outputs.PaperExchange === undefined ? configured : onPaper(configured);
  const clock = systemClock;
  const secretsManager = new SecretsManagerClient(options);
  const access = await openAccess(secretsManager);
  const secrets = createStackSecrets({
    client: secretsManager,
    clock,
    webhookTokens: outputs.WebhookTokens,
    exchangeKeys: outputs.ExchangeKeys,
  });
  const exchange = locateExchange(host, outputs);
  const clientsByDialect = new Map<Dialect, ExchangeClients>();

  async function readToken(account: Account): Promise<string> {
    const [token] = await secrets.webhookTokens(account.name);
    if (token === undefined)
      throw new RelayError('secrets_missing', `account ${account.name} has no webhook token stored`);
    return token;
  }

  const locateLedger = () => ({
    client: createDynamodbClient(access),
    tableName: outputs.LedgerTable,
    keepDays: host.aws.keepLedgerDays,
  });

  return {
    backups: null,
    clock,
    settings: host.settings,
    notices: accessNotices({ client: secretsManager, region: options, access, outputs, stackName, host }),
    target: {
      kind: 'stack',
      stack: stackName,
      region: access.region,
      ...(exchange.kind === 'paper' ? { trades: 'paper' as const } : {}),
    },
    relayName: `the relay of stack ${stackName}`,
    // A deployment shows what it changes before it does.
    findConfigChange: () => null,
    reachHint:
      "The API accepts alerts only from TradingView's addresses and those in relay.config.ts; `send` works from any address.",
    changeHint:
      'A new token works within 10 s; running functions keep an old key or token for up to 5 minutes.',
    exchangeAddress: host.exchange.address,
    locateExchange: () => exchange,
    locatePaper() {
      throw createUsageFailure(
        exchange.kind === 'paper'
          ? 'the paper exchange of a stack has no controls: its prices move by themselves'
          : 'the paper exchange is part of a local run, not of a stack',
        exchange.kind === 'paper'
          ? 'Leave out --stack to control the paper exchange of a local run, or use `ping`, `balance`, `orders`.'
          : 'Leave out --stack, or use the commands for the real exchange: `ping`, `balance`, `orders`.',
      );
    },
    openLedger: () => createDynamodbLedger(locateLedger()),
    openExecutions: () => createDynamodbExecutions(locateLedger()),
    openFacts: () => createDynamodbAccountFacts(locateLedger()),
    openDeadLetters: () =>
      createSqsDeadLetters({
        client: createSqsClient(access),
        queueUrl: outputs.SignalQueue,
        deadLetterUrl: outputs.DeadLetterQueue,
      }),
    openSnapshots() {
      const { SnapshotTable: tableName } = outputs;
      if (tableName === undefined) throw createNoSnapshots(stackName);
      return createDynamodbSnapshots({ client: createDynamodbClient(access), tableName });
    },
    readWebhookUrl: async (account) => webhookUrlOf(outputs.WebhookUrl, account, await readToken(account)),
    sendAlert: async (account, body) =>
      await invokeReceiver(new LambdaClient(options), outputs, {
        httpMethod: 'POST',
        pathParameters: { account: account.name, token: await readToken(account) },
        body: body.toString('base64'),
        isBase64Encoded: true,
      }),
    async openExchange(account, dialect = exchange.dialect) {
      const clients =
        clientsByDialect.get(dialect) ??
        createExchangeClients({ address: exchange.url, dialect, secrets, clock });
      clientsByDialect.set(dialect, clients);
      return account === null ? clients.anonymous : await clients.forAccount(account.name);
    },
    async storeKeys({ name }, keys) {
      // First: no key is stored that alerts are not searched for.
      await storeFingerprints(createDynamodbAccountFacts(locateLedger()), name, [
        keys.apiKey,
        keys.apiSecret,
      ]);
      await secrets.storeKeys(name, keys);
    },
    rotateToken: ({ name }, validUntilMs) => secrets.rotateToken(name, validUntilMs),
    listParts: () => listStackParts(stackName, access.region, outputs, options),
    async deleteFolder() {
      throw createUsageFailure(
        'a stack is deleted with your own credentials, by the commands that `uninstall` prints',
        'Leave out --delete, and run them yourself.',
      );
    },
    async diagnose() {
      const { diagnoseStack } = await import('../checks/stack-checks.ts');
      return await diagnoseStack({ stackName, options, access, outputs, aws: host.aws });
    },
    close() {
      access.transport.close();
      for (const clients of clientsByDialect.values()) clients.close();
    },
  };
}

function locateExchange({ exchange }: HostConfig, { PaperExchange }: StackOutputs): ExchangeLocation {
  const { dialect } = exchange;
  if (PaperExchange !== undefined) return { url: checkPaperUrl(PaperExchange), dialect, kind: 'paper' };
  const url = baseUrlOf(exchange.address);
  return { url, dialect, kind: kindOfAddress(url) };
}

/** The operator's region and credentials, as the SDK finds them in the environment, a profile or a sign-in. */
async function openAccess({ config }: SecretsManagerClient): Promise<AwsAccess> {
  return {
    transport: createTransport(),
    region: await config.region(),
    endpoint: process.env['AWS_ENDPOINT_URL'],
    credentials: config.credentials,
    // The operator may be far away from the region.
    connectTimeoutMs: 5_000,
    timeoutMs: 20_000,
  };
}

function createNoSnapshots(stackName: string): CommandFailure {
  return new CommandFailure(
    'no_snapshots',
    `stack "${stackName}" records no balances, fees and interest: an older release deployed it`,
    'Deploy it again: `npx cdk deploy`. It records them from then on.',
  );
}

const ProxyResult = z.object({ statusCode: z.int(), body: z.string() });

/** The parts of API Gateway's event that the webhook reads. */
interface ReceiverEvent {
  readonly httpMethod: string;
  readonly pathParameters: Readonly<Record<string, string>> | null;
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

/**
 * Invokes receive-signal as API Gateway would.
 *
 * @throws CommandFailure when the function failed without a response
 */
async function invokeReceiver(
  client: LambdaClient,
  { ReceiveFunction }: StackOutputs,
  event: ReceiverEvent,
): Promise<LocalResponse> {
  const response = await client.send(
    new InvokeCommand({ FunctionName: ReceiveFunction, Payload: JSON.stringify(event) }),
  );
  const result = ProxyResult.safeParse(readJson(response.Payload?.transformToString() ?? ''));
  if (response.FunctionError === undefined && result.success)
    return { httpStatus: result.data.statusCode, body: readJson(result.data.body) };
  throw new CommandFailure(
    'function_broken',
    `the function ${ReceiveFunction} failed (${response.FunctionError ?? 'its response is not one of a webhook'})`,
    'Its log group says why. The alert was not accepted, so send it again afterwards.',
  );
}
