import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import type { AwsAccess } from '../../lib/base/aws-client.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { createDynamodbClient } from '../../lib/base/dynamodb.ts';
import type { HostConfig } from '../../lib/host/config.ts';
import { parseWaysContent } from '../../lib/host/secret-contents.ts';
import { ofChannels, storeFingerprints } from '../../lib/host/secret-fingerprints.ts';
import { createDynamodbAccountFacts } from '../../lib/ledger/dynamodb-account-facts.ts';
import { secretsIn, type Ways } from '../../lib/notices/channels.ts';
import { createDynamodbChannelStates } from '../../lib/notices/dynamodb-channel-states.ts';
import { composeMail, fitsMail } from '../../lib/notices/mail.ts';
import { openRequestChannel } from '../../lib/notices/request-channel.ts';
import type { OpenChannel } from '../../lib/notices/tell-channel.ts';
import { CommandFailure } from '../failure.ts';
import type { NoticeAccess } from './session.ts';
import type { StackOutputs } from './stack.ts';

/** The notices of a deployed relay, with the operator's own credentials. */
export function accessNotices(options: {
  readonly client: SecretsManagerClient;
  readonly region: { readonly region?: string };
  readonly access: AwsAccess;
  readonly outputs: StackOutputs;
  readonly stackName: string;
  readonly host: HostConfig;
}): NoticeAccess {
  const { client, access, outputs, stackName, host } = options;

  function secretId(): string {
    const { NoticeSecret } = outputs;
    if (NoticeSecret !== undefined) return NoticeSecret;
    throw new CommandFailure(
      'no_notices',
      `stack "${stackName}" tells nobody: it was deployed without notices.channels`,
      'Name the channels in notices.channels of relay.config.ts, and deploy: `npx cdk deploy`.',
    );
  }

  async function readWays(): Promise<Ways> {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secretId() }));
    return parseWaysContent(SecretString ?? '');
  }

  const table = { client: createDynamodbClient(access), tableName: outputs.LedgerTable };
  const states = createDynamodbChannelStates(table);

  return {
    settings: host.notices,
    toldBesides: host.aws.alarmEmail === null ? null : `alarms are mailed to ${host.aws.alarmEmail}`,
    readWays,
    async storeWay(channel, way) {
      const { [channel]: _, ...others } = await readWays();
      const content = way === null ? others : { ...others, [channel]: way };
      // First: nothing is stored that alerts are not searched for.
      await storeFingerprints(createDynamodbAccountFacts(table), ofChannels, secretsIn(content));
      const command = new PutSecretValueCommand({
        SecretId: secretId(),
        SecretString: JSON.stringify(content),
      });
      await client.send(command);
    },
    readState: (channel) => states.read(channel),
    // What waits is in the stream of the table, which nobody counts.
    countWaiting: async () => null,
    async openChannel(channel) {
      if (channel === 'email') return openTopic(new SNSClient(options.region), outputs.AlarmTopic);
      const { transport } = access;
      return openRequestChannel(channel, await readWays(), { transport, clock: systemClock });
    },
  };
}

function openTopic(client: SNSClient, topicArn: string): OpenChannel {
  return {
    fits: fitsMail,
    async send(message) {
      const { subject, text } = composeMail(message);
      try {
        await client.send(new PublishCommand({ TopicArn: topicArn, Subject: subject, Message: text }));
        return { kind: 'sent' };
      } catch (error) {
        return { kind: 'failed', reason: Error.isError(error) ? error.name : 'unknown' };
      }
    },
  };
}
