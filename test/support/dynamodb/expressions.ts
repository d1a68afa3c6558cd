import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { createInvalid, type Failure } from './failure.ts';
import type { Item } from './item.ts';
import { isReserved, type Token, tokenize } from './tokens.ts';
import { normalize } from './values.ts';

/** Attribute names and list places, from the item inwards. */
export type Path = readonly [string, ...(string | number)[]];

/** The aliases and values a request brings for its expressions; each must be used, and each used one be there. */
export class Placeholders {
  readonly #names: Readonly<Record<string, string>>;
  readonly #values: Item;
  readonly #isGiven: boolean;
  readonly #used = new Set<string>();
  #areThereExpressions = false;

  /** @throws Failure when what is given is empty or misspelt */
  constructor(names: Record<string, string> | undefined, values: Item | undefined) {
    if (names !== undefined && Object.keys(names).length === 0)
      throw createInvalid('ExpressionAttributeNames must not be empty');
    if (values !== undefined && Object.keys(values).length === 0)
      throw createInvalid('ExpressionAttributeValues must not be empty');
    this.#names = names ?? {};
    this.#values = values ?? {};
    this.#isGiven = names !== undefined || values !== undefined;
  }

  /** @param label names the parameter, for example `ConditionExpression` */
  open(text: string, label: string): TokenReader {
    this.#areThereExpressions = true;
    return new TokenReader(tokenize(text, label), label, this);
  }

  nameOf(alias: string): string | undefined {
    this.#used.add(alias);
    return this.#names[alias];
  }

  valueOf(alias: string): AttributeValue | undefined {
    this.#used.add(alias);
    const value = this.#values[alias];
    return value === undefined ? undefined : normalize(value);
  }

  /** @throws Failure when something was brought that no expression names */
  checkAllUsed(): void {
    if (this.#isGiven && !this.#areThereExpressions)
      throw createInvalid(
        'ExpressionAttributeNames and -Values can only be specified when using expressions',
      );
    const unused = (given: object) => Object.keys(given).filter((alias) => !this.#used.has(alias));
    const names = unused(this.#names);
    if (names.length > 0)
      throw createInvalid(
        `Value provided in ExpressionAttributeNames unused in expressions: keys: {${names.join(', ')}}`,
      );
    const values = unused(this.#values);
    if (values.length > 0)
      throw createInvalid(
        `Value provided in ExpressionAttributeValues unused in expressions: keys: {${values.join(', ')}}`,
      );
  }
}

/** Reads one expression from its first token to its last. */
export class TokenReader {
  readonly #tokens: readonly Token[];
  readonly #label: string;
  readonly #placeholders: Placeholders;
  #next = 0;

  constructor(tokens: readonly Token[], label: string, placeholders: Placeholders) {
    this.#tokens = tokens;
    this.#label = label;
    this.#placeholders = placeholders;
  }

  peek(ahead = 0): Token | undefined {
    return this.#tokens[this.#next + ahead];
  }

  isNext(text: string): boolean {
    const token = this.peek();
    return token !== undefined && isWritten(token, text);
  }

  /** Takes the sign or word if it comes next. */
  take(text: string): boolean {
    const isThere = this.isNext(text);
    if (isThere) this.#next += 1;
    return isThere;
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.failAtNext();
  }

  expectEnd(): void {
    if (this.peek() !== undefined) throw this.failAtNext();
  }

  /** Takes the word that stands before a parenthesis; null when none does. */
  takeFunction(): string | null {
    const token = this.peek();
    const follower = this.peek(1);
    if (token?.kind !== 'word' || follower?.text !== '(') return null;
    this.#next += 2;
    return token.text;
  }

  takeValue(): AttributeValue | null {
    const token = this.peek();
    if (token?.kind !== 'value') return null;
    this.#next += 1;
    const value = this.#placeholders.valueOf(token.text);
    if (value !== undefined) return value;
    throw this.fail(
      `An expression attribute value used in expression is not defined; attribute value: ${token.text}`,
    );
  }

  takePath(): Path {
    const path: [string, ...(string | number)[]] = [this.#takeName()];
    for (;;) {
      if (this.take('.')) path.push(this.#takeName());
      else if (this.take('[')) path.push(this.#takePlace());
      else return path;
    }
  }

  #takeName(): string {
    const token = this.peek();
    if (token?.kind !== 'word' && token?.kind !== 'alias') throw this.failAtNext();
    this.#next += 1;
    if (token.kind === 'alias') {
      const name = this.#placeholders.nameOf(token.text);
      if (name !== undefined) return name;
      throw this.fail(
        `An expression attribute name used in the document path is not defined; attribute name: ${token.text}`,
      );
    }
    if (isReserved(token.text))
      throw this.fail(`Attribute name is a reserved keyword; reserved keyword: ${token.text}`);
    return token.text;
  }

  #takePlace(): number {
    const token = this.peek();
    if (token?.kind !== 'number') throw this.failAtNext();
    this.#next += 1;
    this.expect(']');
    return Number(token.text);
  }

  fail(reason: string): Failure {
    return createInvalid(`Invalid ${this.#label}: ${reason}`);
  }

  failAtNext(): Failure {
    const token = this.peek()?.text ?? '<EOF>';
    const near = this.#tokens.slice(Math.max(0, this.#next - 1), this.#next + 2).map(({ text }) => text);
    return this.fail(`Syntax error; token: "${token}", near: "${near.join(' ')}"`);
  }
}

/** Words of the language are written in any case, names of functions and attributes in theirs. */
function isWritten(token: Token, text: string): boolean {
  if (token.kind === 'word') return token.text.toUpperCase() === text;
  return token.kind === 'sign' && token.text === text;
}

export function valueAt(item: Item, path: Path): AttributeValue | undefined {
  let value: AttributeValue | undefined = { M: item };
  for (const step of path) value = typeof step === 'number' ? value?.L?.[step] : value?.M?.[step];
  return value;
}
