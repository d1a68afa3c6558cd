import { type Side, type StpMode, type TriggerSide, usualTriggerSides } from '../model/order.ts';
import type { Fields } from './fields.ts';
import { hintForForeignTimeInForce } from './foreign-words.ts';
import type { Issues } from './issues.ts';
import { readFlag, readWord, type Vocabulary } from './read-text.ts';

const timesInForce: Vocabulary<'gtc' | 'ioc'> = {
  what: 'a time in force of the exchange',
  words: {
    gtc: 'gtc',
    goodtillcancel: 'gtc',
    goodtillcancelled: 'gtc',
    ioc: 'ioc',
    immediateorcancel: 'ioc',
  },
  known: ['gtc', 'ioc'],
  findHint: hintForForeignTimeInForce,
};
/** With the long words that the exchange still takes. */
const stpModes: Vocabulary<StpMode> = {
  what: 'a mode of self-trade prevention',
  words: { no: 'no', cb: 'cb', cn: 'cn', co: 'co', cancelboth: 'cb', cancelnew: 'cn', cancelold: 'co' },
  known: ['no', 'cb', 'cn', 'co'],
};
const triggerSides: Vocabulary<TriggerSide | 'breakout'> = {
  what: 'a side of the last price',
  words: { above: 'above', below: 'below', breakout: 'breakout' },
  known: ['above', 'below', 'breakout'],
};

/** How an order meets the book: the paths of the fields that say so, where they say so. */
export interface BookFlags {
  readonly postOnly?: string;
  readonly ioc?: string;
}

/** Reads `postOnly`, `ioc` and `timeInForce`. A flag that is false says the same as one that is absent. */
export function readBookFlags(fields: Fields, issues: Issues): BookFlags {
  const { postOnly, ioc, timeInForce } = fields;
  const isPostOnly = postOnly !== undefined && readFlag(postOnly, issues) === true;
  const isIoc = ioc !== undefined && readFlag(ioc, issues) === true;
  const force = timeInForce && readWord(timeInForce, timesInForce, issues);
  if (ioc !== undefined && timeInForce !== undefined)
    issues.add(timeInForce.path, '"ioc" says how long the order rests, too', 'keep one of them');
  const iocPath = isIoc ? ioc.path : force === 'ioc' ? timeInForce?.path : undefined;
  if (isPostOnly && iocPath !== undefined)
    issues.add(
      iocPath,
      'a post-only order only rests, and an immediate-or-cancel order never does',
      'keep "postOnly" or "ioc"',
    );
  return {
    ...(isPostOnly ? { postOnly: postOnly.path } : {}),
    ...(iocPath === undefined ? {} : { ioc: iocPath }),
  };
}

export function readStp({ stp }: Fields, issues: Issues): StpMode | undefined {
  return stp && readWord(stp, stpModes, issues);
}

/** `breakout` is the usual side of a stop price: above the last price for a buy, below it for a sell. */
export function readExpectTrigger(
  { expectTrigger }: Fields,
  side: Side,
  issues: Issues,
): TriggerSide | undefined {
  const word = expectTrigger && readWord(expectTrigger, triggerSides, issues);
  return word === 'breakout' ? usualTriggerSides[side] : word;
}
