import { type Decimal, hundred, parseDecimal, zero } from '../base/decimal.ts';
import type { PercentText, PriceOrDistance, TakeProfitPart } from '../model/signal.ts';
import { type Field, type Fields, pathOf } from './fields.ts';
import { plainWord } from './foreign-words.ts';
import type { Issues } from './issues.ts';
import type { JsonNode } from './parse-json.ts';
import { isPercent, readPercent, readPositive } from './read-number.ts';

/** Several take-profits, as a signal has them. */
export interface TakeProfitsPart {
  readonly takeProfits?: readonly TakeProfitPart[];
}

/** More would be orders too small for most markets, and each of them costs requests while it is followed. */
const mostParts = 5;

const example = '"takeProfits": [{"price": "2%", "share": "50%"}, {"price": "4%", "share": "50%"}]';
const partHint = `write a price or a distance, and its share of what is opened: ${example}`;

/**
 * Reads a list of one to five take-profits: objects with one of `price` (`51000`, `"2%"`), `distance` (`"2%"`) and `percent`
 * (`2`), and with a `share` (`"50%"`). All shares together are at most 100 %.
 */
export function readTakeProfits({ takeProfits, takeProfit }: Fields, issues: Issues): TakeProfitsPart {
  if (takeProfits === undefined) return {};
  if (takeProfit !== undefined)
    issues.add(takeProfit.path, '"takeProfits" says what the take-profits are', 'keep one of them');
  const { node, path } = takeProfits;
  if (node.kind !== 'array') {
    issues.add(path, 'it is not a list', `write ${example}; a single one is "takeProfit": "4%"`);
    return {};
  }
  const { items } = node;
  if (items.length === 0 || items.length > mostParts) {
    issues.add(path, `the list has ${items.length} take-profits`, `write one to ${mostParts}`);
    return {};
  }
  const parts = items.map((item, index) => readPart(`${path}[${index}]`, item, issues));
  const known = parts.flatMap((part) => part ?? []);
  if (known.length < parts.length) return {};
  const sum = known.reduce(
    (shares: Decimal, { share }) => shares.plus(parseDecimal(share.slice(0, -1))),
    zero,
  );
  if (sum.gt(hundred)) {
    issues.add(
      path,
      `the shares come to ${sum.toFixed()}%`,
      'write shares that come to 100% at most: each is a share of the whole, not of what is left',
    );
    return {};
  }
  return { takeProfits: known };
}

function readPart(path: string, node: JsonNode, issues: Issues): TakeProfitPart | undefined {
  if (node.kind !== 'object') return issues.add(path, 'it is not an object with price and share', partHint);
  const prices: (PriceOrDistance | undefined)[] = [];
  const shares: (PercentText | undefined)[] = [];
  const foundBefore = issues.count;
  for (const { name: key, value } of node.members) {
    const member: Field = { key, path: pathOf(`${path}.`, key), node: value };
    switch (plainWord(key.slice(0, 32))) {
      case 'price':
      case 'limitprice':
        prices.push(
          isPercent(member) ? readPercent(member, 'nothing', issues) : readPositive(member, issues),
        );
        break;
      case 'distance':
        prices.push(readPercent(member, 'nothing', issues));
        break;
      case 'percent':
        prices.push(readPercent(member, 'percent', issues));
        break;
      case 'share':
        shares.push(readPercent(member, 'above one', issues));
        break;
      default:
        issues.add(member.path, 'it is no part of a take-profit here', partHint);
    }
  }
  const [price, share] = [prices[0], shares[0]];
  if (issues.count > foundBefore) return undefined;
  if (prices.length !== 1 || price === undefined)
    return issues.add(path, 'the take-profit needs one price or one distance', partHint);
  if (shares.length !== 1 || share === undefined)
    return issues.add(path, 'the take-profit needs one share', partHint);
  return { price, share };
}

/** One take-profit for all of the position, as the list that a signal has. */
export function wholeTakeProfit(price: PriceOrDistance): readonly TakeProfitPart[] {
  return [{ price, share: '100%' }];
}
