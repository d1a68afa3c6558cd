import { expect, test } from '@jest/globals';
import { answersOf } from '../../lib/account/rehearsed.ts';
import { createDynamodbAccountFacts } from '../../lib/ledger/dynamodb-account-facts.ts';
import { readNotes } from '../../lib/rehearsal/rehearsal-book.ts';
import { startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { Killed, openRehearsalWorld } from '../support/rehearsal-world.ts';
import { createStackTable } from '../support/stack-tables.ts';

test('a rehearsal of a stack that was killed is cleaned up, and its answers are kept in the table of the ledger', async () => {
  const dynamodb = await startDynamodb();
  await createStackTable(dynamodb.client, 'ledger', 'ledger');
  const facts = createDynamodbAccountFacts({ client: dynamodb.relayClient, tableName: 'ledger' });
  const world = await openRehearsalWorld(facts);
  try {
    world.paper.control.setExits({ madeAt: 'never' });
    await world.run({ to: '3' });
    // By then the first position is open.
    const killed = await world.run({ from: '6', killAt: { act: 12 } }).catch((error: unknown) => error);
    expect(killed).toBeInstanceOf(Killed);
    expect(world.left()).not.toEqual([]);
    expect((await readNotes(facts, 'main', 'margin')).sent).toHaveLength(1);

    const { left } = await world.run({ from: '4' });

    expect(left).toBeNull();
    expect(world.left()).toEqual([]);
    const notes = await readNotes(facts, 'main', 'margin');
    expect(notes).toMatchObject({ sent: [], stopped: null });
    expect(Object.keys(notes.rehearsed)).toEqual(['1', '2', '3', '4', '5', '6']);
    expect(answersOf(notes.rehearsed)).toEqual({ exitsListedAfterMs: 0, triggersBySide: false });
  } finally {
    await world.close();
    await dynamodb.close();
  }
});
