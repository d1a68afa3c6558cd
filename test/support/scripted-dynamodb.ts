import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type ScriptedServer, type ScriptStep, startScriptedServer } from './scripted-server.ts';

/** DynamoDB as an emulator does not show it: answers that are cut, lost, or refused for other reasons. */
export interface ScriptedDynamodb {
  readonly client: DynamoDBClient;
  readonly server: ScriptedServer;
  close(): Promise<void>;
}

/** The client asks once and does not try again by itself. */
export async function startScriptedDynamodb(steps: readonly ScriptStep[]): Promise<ScriptedDynamodb> {
  const server = await startScriptedServer(steps);
  const client = new DynamoDBClient({
    endpoint: server.url,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
  return {
    client,
    server,
    async close() {
      client.destroy();
      await server.close();
    },
  };
}

export function answers(content: unknown): ScriptStep {
  return { status: 200, body: JSON.stringify(content) };
}

/** @param kind the service's name of the failure */
export function fails(kind: string, more: object = {}): ScriptStep {
  const __type = `com.amazonaws.dynamodb.v20120810#${kind}`;
  const message = 'arn:aws:dynamodb:eu-central-1:111122223333';
  return { status: 400, body: JSON.stringify({ __type, message, ...more }) };
}
