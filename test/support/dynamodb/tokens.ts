import { createInvalid } from './failure.ts';

/** A piece of an expression: a word, an alias `#name`, a value `:name`, an index, or a sign. */
export interface Token {
  readonly kind: 'word' | 'alias' | 'value' | 'number' | 'sign';
  readonly text: string;
}

const pattern = /\s*(?:(#\w+)|(:\w+)|(\d+)|([A-Za-z_]\w*)|(<>|<=|>=|[=<>+\-(),.[\]]))/y;
const kinds = ['alias', 'value', 'number', 'word', 'sign'] as const;

/**
 * Some of DynamoDB's 573 reserved words: those that might well name an attribute here.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ReservedWords.html
 */
const reservedWords = new Set(
  `ABSOLUTE ACTION ADD ALL AND ANY AS ASC AT BATCH BEFORE BEGIN BETWEEN BY CLOSE COLLECTION COMMENT CONDITION CONFLICT
  COUNT COUNTER CURRENT CURSOR DATA DATE DAY DEC DECIMAL DELETE DESC ERROR EXCEPTION EXISTS EXIT FILTER FIRST FROM GROUP
  HASH HOUR IN INDEX INDEXES ITEM ITEMS KEY KEYS LAST LEVEL LIMIT LIST LOCAL LOCK LOG MAP MAX MIN MINUTE MODE MONTH NAME
  NAMES NEW NEXT NO NONE NOT NULL NUMBER OBJECT OF OFFSET OLD ON OPEN OPTION OR ORDER OTHER OUT OWNER PARTITION PATH
  PERCENT PLAN POSITION PUT QUERY RANGE READ REFERENCE ROLE ROW SECOND SELECT SEQUENCE SET SIGNAL SIZE SNAPSHOT SOURCE
  START STATE STATUS STORE STORED STRING TABLE TEXT THEN TIME TIMESTAMP TIMEZONE TO TOKEN TOTAL TRANSACTION TTL TYPE UNDO
  UNIQUE UNIT UNKNOWN UNTIL UPDATE URL USE USER UUID VALUE VALUES VIEW WHEN WHERE WITH WORK WRITE YEAR ZONE`.split(
    /\s+/,
  ),
);

export function isReserved(word: string): boolean {
  return reservedWords.has(word.toUpperCase());
}

/** @param label for example `ConditionExpression`, for what is said of a mistake in it */
export function tokenize(text: string, label: string): readonly Token[] {
  if (text.trim() === '') throw createInvalid(`Invalid ${label}: The expression can not be empty;`);
  const tokens: Token[] = [];
  pattern.lastIndex = 0;
  while (text.slice(pattern.lastIndex).trim() !== '') {
    const from = pattern.lastIndex;
    const found = pattern.exec(text);
    if (found === null)
      throw createInvalid(`Invalid ${label}: Syntax error; token: "${text.slice(from, from + 10)}"`);
    for (const [i, kind] of kinds.entries()) {
      const piece = found[i + 1];
      if (piece !== undefined) tokens.push({ kind, text: piece });
    }
  }
  return tokens;
}
