import { expect, test } from '@jest/globals';
import { mayOpen } from '../../lib/signals/may-open.ts';
import { parseAlert } from '../../lib/signals/parse-alert.ts';
import { accountOn, context } from './reading.ts';

const onMargin = accountOn('ETH_USDT', 'margin');
const onSpot = accountOn('ETH_USDT', 'spot');

function opens(members: object, of = onMargin): readonly boolean[] {
  const body = JSON.stringify({ id: 'a', ticker: 'ETHUSDT', ...members });
  const { items } = parseAlert(Buffer.from(body), { ...context, account: of });
  return items.flatMap(({ signal, reduceLeg }) =>
    [...(reduceLeg === undefined ? [] : [reduceLeg]), signal].map((each) => mayOpen(each, of)),
  );
}

const market = { orderType: 'market', maxSlippage: '1%' };

test.each<readonly [string, object, readonly boolean[]]>([
  ['buy', { ...market, action: 'buy', quantity: '1' }, [true]],
  ['sell', { ...market, action: 'sell', quantity: '1' }, [true]],
  ['reduce-only sell', { ...market, action: 'sell', quantity: '1', reduceOnly: true }, [false]],
  ['exit', { ...market, action: 'exit_long', quantity: '1' }, [false]],
  ['close', { action: 'close', maxSlippage: '1%' }, [false]],
  ['reversal', { action: 'reverse', maxSlippage: '1%' }, [false, true]],
  ['target', { action: 'target', target: '1', maxSlippage: '1%' }, [false, true]],
  ['target of no position', { action: 'target', target: 'flat', maxSlippage: '1%' }, [false]],
  ['protect', { action: 'protect', stopLoss: '1' }, [false]],
  ['cancel', { action: 'cancel', signalId: 'a1' }, [false]],
  ['cancel_all', { action: 'cancel_all' }, [false]],
])('a %s says of each of its signals whether it may open', (_, members, expected) => {
  expect(opens(members)).toEqual(expected);
});

test('on spot a sale opens nothing, and a buy does', () => {
  expect(opens({ ...market, action: 'sell', quantity: '1' }, onSpot)).toEqual([false]);
  expect(opens({ ...market, action: 'buy', quantity: '1' }, onSpot)).toEqual([true]);
});
