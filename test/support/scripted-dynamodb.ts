import { createDynamodbClient, type DynamodbClient } from '../../lib/base/dynamodb.ts';
import { openAccess } from './aws-access.ts';
import { type ScriptedServer, type ScriptStep, startScriptedServer } from './scripted-server.ts';

/** DynamoDB as an emulator does not show it: answers that are cut, lost, or refused for other reasons. */
export interface ScriptedDynamodb {
  readonly client: DynamodbClient;
  readonly server: ScriptedServer;
  close(): Promise<void>;
}

/** The client asks once and does not try again by itself. */
export async function startScriptedDynamodb(steps: readonly ScriptStep[]): Promise<ScriptedDynamodb> {
  const server = await startScriptedServer(steps);
  const access = openAccess(server.url, { maximumAttempts: 1 });
  return {
    client: createDynamodbClient(access),
    server,
    async close() {
      access.transport.close();
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
