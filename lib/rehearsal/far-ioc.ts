import { zero } from '../base/decimal.ts';
import { isOrderEnd } from '../model/order.ts';
import { stopAt } from './rehearsal-book.ts';
import { sendOrder } from './send-order.ts';
import { farBuy, noPrices, readPrices, type TrialStep } from './stage.ts';

export const farIoc: TrialStep = {
  name: '3',
  title: 'send an "immediate or cancel" limit order far below the price',
  async run(stage) {
    const prices = await readPrices(stage);
    if (prices === null) return stopAt(noPrices);
    const sent = await sendOrder(stage, '3', { ...farBuy(stage, prices), ioc: true });
    if (sent.kind === 'unclear') return stopAt(`an "immediate or cancel" order: ${sent.text}`);
    if (sent.kind === 'refused')
      return sent.fields.includes('ioc')
        ? { passed: true, found: { ioc: 'refused', answer: sent.text } }
        : stopAt(`an "immediate or cancel" order: ${sent.text}`);
    const { status, filled, endReason } = sent.order;
    if (filled.gt(zero)) return stopAt('a buy far below the price has filled');
    if (!isOrderEnd(status))
      return stopAt('an "immediate or cancel" order that filled nothing is open: the flag has no effect');
    return { passed: true, found: { ioc: 'taken', endsAs: endReason ?? status } };
  },
};
