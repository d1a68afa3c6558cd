import { type DynamodbClient, type Item, textAttribute } from '../base/dynamodb.ts';
import { DynamodbTable } from '../base/dynamodb-table.ts';
import { parseOwnJson } from '../base/json.ts';
import { type ChannelState, type ChannelStates, firstState } from './channel-state.ts';
import type { ChannelName } from './notice-settings.ts';

/** No account can have this name. */
const partition = '#notices';

/** The states are items of the ledger's table. */
export function createDynamodbChannelStates(options: {
  readonly client: DynamodbClient;
  readonly tableName: string;
}): ChannelStates {
  const table = new DynamodbTable({ ...options, contents: 'what was told' });
  return {
    async read(channel) {
      const item = await table.get(keyItem(channel));
      return item === null
        ? null
        : { ...firstState, ...parseOwnJson<ChannelState>(textAttribute(item, 'state')) };
    },
    async write(channel, state) {
      await table.put({ ...keyItem(channel), state: { S: JSON.stringify(state) } });
    },
  };
}

function keyItem(channel: ChannelName): Item {
  return { account: { S: partition }, item: { S: `channel#${channel}` } };
}
