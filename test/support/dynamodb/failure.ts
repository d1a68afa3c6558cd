/** What DynamoDB answers instead of a result, in its own words. */
export class Failure extends Error {
  readonly kind: string;
  /** What the response carries beside the message, such as the item that stood against a condition. */
  readonly more: object;

  constructor(kind: string, message: string, more: object = {}) {
    super(message);
    this.kind = kind;
    this.more = more;
  }
}

/** A request that DynamoDB does not take, whatever is stored. */
export function createInvalid(message: string): Failure {
  return new Failure('ValidationException', message);
}

/** A key or an attribute that no table takes. */
export function createInvalidParameter(reason: string): Failure {
  return createInvalid(`One or more parameter values were invalid: ${reason}`);
}

/** A key that is an empty text. */
export function createEmptyKey(name: string): Failure {
  return createInvalid(
    `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`,
  );
}
