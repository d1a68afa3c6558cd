import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';

let relay: Aftermath;
beforeEach(async () => {
  relay = await openAftermath();
  await send({ id: 'enter', action: 'buy', quantity: '0.5', orderType: 'market', maxSlippage: '0.1%' });
});
afterEach(() => relay.close());

const send = (fields: object) => relay.send(JSON.stringify({ ticker: 'BTCUSDT', ...fields }));
const exit = { id: 'exit', action: 'exit_long', quantity: '1' };

describe('an order that only reduces and is larger than the position', () => {
  test.each([
    ['at market', { orderType: 'market', maxSlippage: '0.1%' }, { status: 'filled' }, false],
    ['at a limit', { orderType: 'limit', limitPrice: '51000' }, { status: 'open' }, true],
  ])('is placed %s, and its note says that the exchange has cut it', async (_, fields, state, orderOpen) => {
    const entry = await send({ ...exit, ...fields });

    expect(entry).toMatchObject({ status: 'placed', orderOpen });
    expect(entry.steps.at(-1)?.note).toContain('cut to 0.5 by the exchange');
    expect(relay.paper.control.state().orders.at(-1)).toMatchObject({ ...state, amount: '0.5' });
    expect(relay.alarms).toEqual([]);
  });
});
