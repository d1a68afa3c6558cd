/** The place at which the strict JSON parser stopped, with what is needed to find the mistake. */
export interface MistakePlace {
  readonly text: string;
  /** The parser's name of the problem, for example `CommaExpected`. */
  readonly problem: string;
  /** Where the mistake itself is: inside a broken string, not at its opening quote. */
  readonly offset: number;
  /** The character there; empty at the end of the body. */
  readonly found: string;
  /** From `offset` to the end of the parser's token; for a string, only its quote. */
  readonly token: string;
  /** Everything before `offset`, without the white space directly before it. */
  readonly before: string;
  /** Whether there is no white space between `before` and `offset`. */
  readonly isAdjacent: boolean;
}

/** A typical mistake in JSON, and how to correct it. */
interface Mistake {
  readonly hint: string;
  matches(place: MistakePlace): boolean;
}

const foreignWord =
  /^(?:None|True|False|NaN|nan|NAN|Infinity|undefined|na|Null|NULL|TRUE|FALSE|nil)(?![\w.])/;
const stringProblems: ReadonlySet<string> = new Set([
  'UnexpectedEndOfString',
  'InvalidCharacter',
  'InvalidEscapeCharacter',
  'InvalidUnicode',
]);
const typographicQuote = /[\u2018-\u201f\u2032\u2033\u00ab\u00bb\u2039\u203a\uff02]/;
const invisible = /[\u00a0\u1680\u2000-\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]/;

/**
 * What stands behind the valid JSON that follows a beginning with words and without brackets and quotes; undefined when there is no such
 * beginning, or what follows is no valid JSON.
 */
function textBehindJson(text: string): string | undefined {
  const start = text.search(/[{}[\]"]/);
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')) + 1;
  const before = text.slice(0, Math.max(start, 0)).trim();
  if (
    !/[\p{L}\p{N}]/u.test(before) ||
    /[=(]$/.test(before) ||
    end <= start ||
    !/[{[]/.test(text[start] ?? '')
  )
    return undefined;
  return isJson(text.slice(start, end)) ? text.slice(end).trim() : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Typical mistakes of people and of bridges, the likeliest first. The first one that matches gives the hint.
 */
export const mistakes: readonly Mistake[] = [
  // The body as a whole.
  {
    hint: 'write the alert into the message box of the alert: a JSON object with ticker, action and the rest',
    matches: ({ text }) => text.trim() === '',
  },
  {
    hint: 'this looks form-urlencoded; send the JSON object itself as the body, not a form',
    matches: ({ text, found }) =>
      /^\s*(?:[\w.%+-]+=(?:[^=\s"]*(?:&|$)|[{[])|[\w.+-]*=?%7B)/i.test(text) ||
      (found === '=' && text.endsWith('}=')),
  },
  {
    hint: 'quotes are doubled, as e-mail and CSV bridges do; send each quote once',
    matches: ({ text }) => /^\s*(?:"\s*)?[[{]\s*""\w/.test(text) || /^\s*""\w+""\s*:/.test(text),
  },
  {
    hint: 'braces are doubled; write one { at the beginning and one } at the end',
    matches: ({ text }) => /^\s*\{\{\s*["'}]/.test(text),
  },
  {
    hint: 'TradingView did not fill the placeholder; check its spelling, and that the alert has such a value',
    matches: ({ text }) => /^\s*\{\{\s*\w/.test(text),
  },
  {
    hint: 'the braces are missing; put { before the first line and } after the last',
    matches: ({ text, problem }) => /^\s*"[^"\n]*"\s*[:=]/.test(text) && problem === 'EndOfFileExpected',
  },
  {
    hint: 'there is text before the JSON; the message must begin with {: remove what stands before it',
    matches: ({ text }) => textBehindJson(text) === '',
  },
  {
    hint: 'there is text around the JSON; the message must begin with { and end with }: remove the rest',
    matches: ({ text }) => (textBehindJson(text) ?? '') !== '',
  },
  {
    hint: 'names and values without quotes are not JSON; write {"ticker": "{{ticker}}", "action": "buy", …}',
    matches: ({ text }) => /^\s*\w+\s*:/.test(text),
  },
  {
    hint: 'commands of other services are not accepted; write the order as a JSON object with ticker, action and the rest',
    matches: ({ text }) =>
      /^\s*\w+\([\w.:/-]*\)\s*\{/.test(text) ||
      /^\s*\w+=[^;=\n]*;/.test(text) ||
      /^\s*(?:enter|exit)-(?:long|short|all)_/i.test(text),
  },
  {
    hint: 'plain text is not accepted; send a JSON object with ticker, action and the rest',
    matches: ({ before, found }) => before === '' && /[\p{L}<]/u.test(found),
  },

  {
    hint: 'the object is inside quotes; the message must begin with { and end with }',
    matches: ({ before, token }) => before === '' && /^['`]+$/.test(token),
  },

  {
    hint: 'there is text after the JSON; the message must end with }: remove what follows it',
    matches: ({ before, found }) => /[}\]]$/.test(before) && /[\p{L}!.<#-]/u.test(found) && isJson(before),
  },

  // Inside a string.
  {
    hint: 'a string must not contain a line break; write \\n, or put the text on one line',
    matches: ({ problem, found }) => problem === 'UnexpectedEndOfString' && /[\r\n]/.test(found),
  },
  {
    hint: 'a string is not closed; add the closing "',
    matches: ({ problem }) => problem === 'UnexpectedEndOfString',
  },
  {
    hint: 'a string must not contain a raw tab or control character; write \\t, or remove it',
    matches: ({ problem }) => problem === 'InvalidCharacter',
  },
  {
    hint: 'a backslash begins an escape such as \\n or \\u00e9; write \\\\ for a backslash itself',
    matches: ({ problem }) => stringProblems.has(problem),
  },

  // The unexpected character itself.
  {
    hint: 'typographic quotes came from a word processor or chat; use straight double quotes "',
    matches: ({ token }) => typographicQuote.test(token),
  },
  {
    hint: 'the text contains a no-break or invisible space, often copied from a web page; replace it by a plain space',
    matches: ({ token }) => invisible.test(token),
  },
  {
    hint: 'TradingView did not fill a placeholder that has no quotes; check its spelling, and put it in double quotes',
    matches: ({ found, before, isAdjacent }) => found === '{' && before.endsWith('{') && isAdjacent,
  },
  {
    hint: 'JSON has no comments; remove it',
    matches: ({ problem }) => problem.endsWith('CommentToken') || problem.endsWith('OfComment'),
  },
  {
    hint: 'write a quote inside a text as \\", or remove it',
    matches: ({ found, before, isAdjacent, problem }) =>
      before.endsWith('"') &&
      (problem === 'InvalidSymbol' || problem === 'CommaExpected') &&
      (isAdjacent ? /[^=;'"]/.test(found) : /[\p{L}]/u.test(found)),
  },
  {
    hint: 'JSON needs double quotes "; replace the single ones',
    matches: ({ found }) => found === "'" || found === '`',
  },
  {
    hint: 'a name and its value are separated by a colon; write : instead of =',
    matches: ({ found, token, before }) => found === '=' || (before.endsWith('{') && /^\w+=/.test(token)),
  },
  {
    hint: 'this word is not JSON; the script had no value to write: correct the script, or leave the line out',
    matches: ({ token, before }) => /[:[,]$/.test(before) && foreignWord.test(token),
  },

  // Numbers.
  {
    hint: 'a number has no decimal comma and no thousands separator; write 1234.5',
    matches: ({ found, before }) => /\d\s*,$/.test(before) && /\d/.test(found),
  },
  {
    hint: 'a number ends with its last digit; remove the unit or the per cent sign',
    // The euro sign is escaped: bundlers leave regular expressions alone, and one letter beyond Latin-1
    // doubles the memory of the whole bundle and lengthens its start.
    matches: ({ found, before }) => /\d$/.test(before) && /[%\p{L}_$\u20ac]/u.test(found),
  },
  {
    hint: 'a number is written like 5, 0.5 or 1e-7: a digit before and after the point, no leading zero, no plus',
    matches: ({ problem, found, before, isAdjacent }) =>
      problem.includes('Number') ||
      (/[:[,]$/.test(before) && /[.+-]/.test(found)) ||
      (isAdjacent && /\d$/.test(before) && /[\d.]/.test(found)),
  },

  // Punctuation.
  {
    hint: 'remove the comma after the last value',
    matches: ({ found, before }) => /[}\]]/.test(found) && before.endsWith(','),
  },
  {
    hint: 'there is one comma too many; remove it',
    matches: ({ found, before }) => found === ',' && /[,{[]$/.test(before),
  },
  {
    hint: 'a value is missing: TradingView filled the placeholder with nothing; put it in double quotes, or leave the line out',
    matches: ({ found, before }) => /^[,}\]]$/.test(found) && before.endsWith(':'),
  },
  {
    hint: 'a comma is missing before this',
    matches: ({ problem, found }) => problem === 'CommaExpected' && /["{[\d]/.test(found),
  },
  {
    hint: 'values are separated by a comma; write , instead of ;',
    matches: ({ found }) => found === ';',
  },
  {
    hint: 'a name and its value are separated by a colon; add it',
    matches: ({ problem }) => problem === 'ColonExpected',
  },
  {
    hint: 'a name needs double quotes; put " before and after it',
    matches: ({ found, before }) => /[{,]$/.test(before) && /[\p{L}_\d]/u.test(found),
  },
  {
    hint: 'text needs double quotes; put " before and after it',
    matches: ({ found, before }) => /[:[]$/.test(before) && /\p{L}/u.test(found),
  },
  {
    hint: 'the end is missing; close every { with } and every [ with ]',
    matches: ({ found }) => found === '',
  },
  {
    hint: 'put several signals into one array: [{…}, {…}]',
    matches: ({ problem, found, before }) =>
      problem === 'EndOfFileExpected' && /^[{,]$/.test(found) && before.endsWith('}'),
  },
  {
    hint: 'a list of values without names is not JSON; write {"ticker": "{{ticker}}", "action": "buy", …}',
    matches: ({ problem, text }) => problem === 'EndOfFileExpected' && !/^\s*[[{"]/.test(text),
  },
  {
    hint: 'there is text after the JSON; the message must end with }: remove what follows it',
    matches: ({ problem }) => problem === 'EndOfFileExpected',
  },
];
