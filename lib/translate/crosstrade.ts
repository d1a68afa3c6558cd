import { plainWord } from '../signals/foreign-words.ts';
import { createDraft, type MessageDraft } from './draft.ts';
import { pairsIn } from './pairs.ts';
import { applyRules, become, leave, type Rules } from './rules.ts';

const crossTradeRules: Rules = {
  command: (word, draft, values) => {
    switch (plainWord(word.value)) {
      case 'place':
      case 'flatplace':
        return draft.leave(word, 'the action says it');
      case 'closeposition':
      case 'flatten':
        return draft.take(word, { action: 'close' });
      case 'reverse':
        return draft.take(word, { action: 'reverse' });
      case 'cancelorders':
        return draft.take(word, { action: 'cancel_all', scope: 'market' });
      default:
        draft.leave(word, 'has no counterpart');
        return draft.lack(
          `an "action"${values.has('instrument') ? '' : ' and a "ticker"'} for what the command does`,
        );
    }
  },
  key: (word, draft) => draft.hide(word),
  account: (word, draft) => draft.hide(word),
  flattenfirst: leave('is an action of its own, before the order'),
  requiremarketposition: become('requirePosition'),
  strategy: leave('LOST: strategies of NinjaTrader do not exist here'),
};

/** @see https://docs.crosstrade.io/webhooks/commands/flat-place-order read 2026-11-23 */
export function readCrossTrade(text: string): readonly MessageDraft[] {
  const words = pairsIn(text, /;/);
  const draft = applyRules(words, crossTradeRules);
  const command = plainWord(words.find(({ name }) => name === 'command')?.value ?? '');
  const isFlat = words.some(({ name, value }) => plainWord(name) === 'flattenfirst' && /true/i.test(value));
  const { ticker } = draft.message;
  if (ticker === undefined || !(isFlat || command === 'flatten' || command === 'flatplace')) return [draft];
  const beside = (action: Readonly<Record<string, string>>): MessageDraft => {
    const own = createDraft();
    Object.assign(own.message, { ticker, ...action });
    return own;
  };
  // Behind the close: what protects the position goes only once that is closed.
  const cancel = beside({ action: 'cancel_all', scope: 'market' });
  return command === 'flatten' ? [draft, cancel] : [beside({ action: 'close' }), cancel, draft];
}
