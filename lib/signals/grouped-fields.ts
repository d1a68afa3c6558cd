import { plainWord } from './foreign-words.ts';

/** What to do with a member of such an object that is not listed. */
export const hintForGroup =
  'write it beside the other fields, under the name that it has there; or remove the line if it only informs';

const position = 'market_position market_position_size prev_market_position prev_market_position_size';

/**
 * Objects whose members are taken as if they stood beside the others: TradingView's `strategy` as tutorials write it, the
 * `order` and `strategy_info` of 3Commas, a `bar`. `a=b`: the member `a` is the field `b`.
 */
const groups: Readonly<Record<string, string>> = {
  strategy: `order_action order_contracts order_price order_id=orderId order_comment order_alert_message position_size ${position} name=strategyName`,
  strategyinfo: position,
  order:
    'amount quantity qty contracts currency_type quantity_type order_type type=orderType action side=action price id=orderId comment=orderComment',
  bar: 'time=barTime open high low close volume',
};

const membersOf: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  Object.entries(groups).map(([group, members]) => [
    group,
    new Map(
      members.split(' ').map((member): [string, string] => {
        const [written = '', key = written] = member.split('=');
        return [plainWord(written), key];
      }),
    ),
  ]),
);

/** The members of an object of this key, plain, and the field of each; undefined for any other object. */
export function memberNames(key: string): ReadonlyMap<string, string> | undefined {
  return key.length > 16 ? undefined : membersOf.get(plainWord(key));
}
