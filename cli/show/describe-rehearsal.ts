import type { PassedStep, RehearsalStep, Rehearsed, TrialAnswers } from '../../lib/account/rehearsed.ts';
import { rehearsalSteps } from '../../lib/account/rehearsed.ts';

/** What a step of a rehearsal found out, in one sentence. */
export function describeFound(step: RehearsalStep, found: TrialAnswers): string {
  return describers[step](found);
}

const describers: Readonly<Record<RehearsalStep, (found: TrialAnswers) => string>> = {
  '1': ({ lists, records, unknownWords, unknownFields }) => {
    const news = [
      ...(unknownWords === '' ? [] : [`words that the relay does not know: ${unknownWords}`]),
      ...(unknownFields === '' ? [] : [`fields that no document has: ${unknownFields}`]),
    ];
    return [`${lists} lists with ${records} records can be read`, ...news].join('; ');
  },
  '2': ({ listedAfterMs, sameId, cancelledInHistory, historyAfterMs }) =>
    [
      `a new order is listed after ${seconds(listedAfterMs)}`,
      `its client order id a second time: ${sameId}`,
      cancelledInHistory === true
        ? `once cancelled it is in the history after ${seconds(historyAfterMs)}`
        : 'cancelled orders stand in no history, as for accounts of partners: such an order ends as `gone`',
    ].join('; '),
  '3': ({ ioc, endsAs, answer }) =>
    ioc === 'taken'
      ? `"immediate or cancel" is taken, and ends as ${endsAs}`
      : `"immediate or cancel" is refused: market orders with a bound go out as limit orders whose rest is cancelled (${answer})`,
  '4': ({ trigger }) =>
    trigger === 'by_price'
      ? 'a stop waits in the direction in which its trigger price lies from the last price'
      : 'a buy stop waits for a rise and a sell stop for a fall, wherever the last price is: an expectTrigger of the other side is denied',
  '5': ({ exits, listedIn, listedAfterMs }) =>
    exits === 'not on spot'
      ? 'on spot an order carries no exits: the relay places the stop-loss'
      : `the exits of an order are ${exits}; it is listed in ${listedIn} after ${seconds(listedAfterMs)}`,
  '6': (found) => ('shortSign' in found ? describePosition(found) : describeBuy(found)),
};

function describePosition(found: TrialAnswers): string {
  const { exits, exitsAfterMs, exitOrders, exitsListedIn, positionAfterMs, attachedToPosition } = found;
  const made =
    exits === 'none'
      ? 'the exchange makes no exits of an entry: the relay places them at once'
      : `the exchange makes ${exitOrders ?? 'no'} exits of an entry ${exits === 'made' ? `after ${seconds(exitsAfterMs)}` : '(not both)'}${describeExit(found, 'stop', 'the stop-loss')}${describeExit(found, 'target', 'the take-profit')}${exitsListedIn === undefined ? '' : `, listed in ${exitsListedIn}`}`;
  const attached = attachedToPosition === true ? '; the position shows them' : '';
  return `${made}${attached}; a position is listed after ${seconds(positionAfterMs)}, a short one ${found['shortSign'] === 'negative' ? 'below zero' : 'by its side, as in hedge mode'}`;
}

/** What releases before this one kept has no id of an exit. */
function describeExit(found: TrialAnswers, name: 'stop' | 'target', title: string): string {
  const [type, amount, id] = [found[`${name}Type`], found[`${name}Amount`], found[`${name}Id`]];
  if (type === undefined) return '';
  const isReducing = found[`${name}ReduceOnly`] === true;
  return `, ${title} as ${type} of ${amount}${id === undefined ? '' : ` (order ${id})`}${isReducing ? ', reduce-only' : ', not marked as reduce-only'}`;
}

function describeBuy({ dealAfterMs, feeIn }: TrialAnswers): string {
  return `a fill is listed after ${seconds(dealAfterMs)}, its fee is taken in ${feeIn}, and a stop-loss of the relay stands`;
}

function seconds(ms: TrialAnswers[string] | undefined): string {
  return `${(Number(ms ?? 0) / 1000).toFixed(1)} s`;
}

/** The steps that have passed, in their order. */
export function passedSteps(
  rehearsed: Rehearsed,
): readonly (PassedStep & { readonly step: RehearsalStep })[] {
  return rehearsalSteps.flatMap((step) => {
    const passed = rehearsed[step];
    return passed === undefined ? [] : [{ step, ...passed }];
  });
}
